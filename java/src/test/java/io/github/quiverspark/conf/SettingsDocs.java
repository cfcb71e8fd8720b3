package io.github.quiverspark.conf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes {@code docs/configuration.md} from {@link QuiverSettings}: to the file given as argument, or to standard output. A test fails if
 * the file in the repository is not what this gives.
 */
public final class SettingsDocs {
  private static final int WIDTH = 135;

  private static final String HEAD = """
      # Configuration

      Generated from `QuiverSettings.java`; edit that file, then run `make docs`.

      Quiver is switched on for an application by `spark.plugins=io.github.quiverspark.QuiverPlugin`. Everything below is optional.
      Settings taken at *start-up* are given to spark-submit (`--conf`), in `spark-defaults.conf`, or to the builder of the first session;
      those taken at *run time* can also be changed by `spark.conf.set` and `SET`. A wrong value is an error that lists the right ones; a
      setting that does not exist is warned about.

      """;

  private static final String TAIL = """
      ## Is it on?

      `SET spark.quiver.status` says `on`, or `off: ` and the reason; the log has the same in one line. The plugin keeps Spark's own cache
      format, and warns, when `spark.quiver.enabled` is false, when `spark.sql.cache.serializer` is set to something else, when the native
      library cannot be loaded on the driver, and when Kryo requires registration and does not know Quiver's classes.

      ## Settings of Spark that matter

      **`spark.sql.cache.serializer`**
      Set by the plugin. Spark fixes it when the application starts: a later `spark.conf.set` is refused (`CANNOT_MODIFY_STATIC_CONFIG`;
      `CANNOT_MODIFY_CONFIG` before 4.1), and the first relation that is cached pins its serializer. To use Quiver without the plugin,
      set it to `io.github.quiverspark.QuiverCachedBatchSerializer` on the command line.

      **`spark.sql.extensions`**
      The plugin adds `io.github.quiverspark.QuiverSessionExtension`, which puts Quiver's scan into plans. Without it, relations are read
      through Spark's scan, row by row.

      **`spark.sql.inMemoryColumnarStorage.batchSize`**
      Rows of a batch at most (see also `spark.quiver.batch.maxBytes`).

      **`spark.sql.inMemoryColumnarStorage.enableVectorizedReader`**
      False: all operators read rows.

      **`spark.sql.inMemoryColumnarStorage.partitionPruning`**
      False: no batch is left out by its statistics.

      **`spark.sql.codegen.maxFields`**
      A query that reads more fields than this from one relation, nested ones included, reads rows.

      **`spark.kryo.registrator`**
      With `spark.serializer=org.apache.spark.serializer.KryoSerializer` and `spark.kryo.registrationRequired=true`, add
      `io.github.quiverspark.QuiverKryoRegistrator`.

      ## System properties

      **`-Dquiver.native.path=FILE`**
      The native library to load instead of the one in the jar. Nothing else is tried. Give it in `spark.driver.extraJavaOptions` and
      `spark.executor.extraJavaOptions`.

      **`-Djava.io.tmpdir=DIRECTORY`**
      Where the library is unpacked for loading if Spark's local directory (`spark.local.dir`) cannot be used; it must allow execution. The
      file is removed again at once.
      """;

  private SettingsDocs() {}

  /** The whole document. */
  public static String markdown() {
    StringBuilder out = new StringBuilder(HEAD);
    out.append("| setting | default | values | taken at |\n|---|---|---|---|\n");
    for (Setting<?> setting : QuiverSettings.all()) {
      if (setting.scope() != Setting.Scope.OUTPUT) {
        out.append("| `").append(setting.key()).append("` | `").append(setting.defaultText()).append("` | ").append(setting.allowed())
            .append(" | ").append(setting.scope()).append(" |\n");
      }
    }
    out.append('\n');
    describe(out, false);
    out.append("Set by Quiver, for reading:\n\n");
    describe(out, true);
    return out.append(TAIL).toString();
  }

  private static void describe(StringBuilder out, boolean outputs) {
    for (Setting<?> setting : QuiverSettings.all()) {
      if ((setting.scope() == Setting.Scope.OUTPUT) == outputs) {
        out.append("**`").append(setting.key()).append("`**\n");
        int column = 0;
        for (String word : setting.doc().split(" ")) {
          if (column > 0 && column + 1 + word.length() > WIDTH) {
            out.append('\n');
            column = 0;
          }
          out.append(column == 0 ? "" : " ").append(word);
          column += (column == 0 ? 0 : 1) + word.length();
        }
        out.append("\n\n");
      }
    }
  }

  /** Writes the document to the file named by the argument, or prints it. */
  public static void main(String[] args) throws IOException {
    if (args.length > 0) {
      Files.writeString(Path.of(args[0]), markdown());
    } else {
      System.out.print(markdown());
    }
  }
}
