"""Reads poms from standard input, prints the dependencies with a scope that reaches users (neither provided nor test)."""

import re
import sys

text = re.sub(r"<(dependencyManagement|build|reporting|profiles)>.*?</\1>", "", sys.stdin.read(), flags=re.S)
for dependency in re.findall(r"<dependency>(.*?)</dependency>", text, re.S):
    scope = re.search(r"<scope>(.*?)</scope>", dependency)
    if scope is None or scope[1] not in ("provided", "test"):
        print(re.search(r"<artifactId>(.*?)</artifactId>", dependency)[1])
