"""The demonstration's queries over TPC-H lineitem, orders and customer."""

Q1 = """
select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty, sum(l_extendedprice) as sum_base_price,
  sum(l_extendedprice * (1 - l_discount)) as sum_disc_price,
  sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge,
  avg(l_quantity) as avg_qty, avg(l_extendedprice) as avg_price, avg(l_discount) as avg_disc, count(*) as count_order
from lineitem where l_shipdate <= date '1998-12-01' - interval '90' day
group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus
"""

Q3 = """
select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate, o_shippriority
from customer, orders, lineitem
where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
  and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'
group by l_orderkey, o_orderdate, o_shippriority order by revenue desc, o_orderdate, l_orderkey limit 10
"""

Q6 = """
select sum(l_extendedprice * l_discount) as revenue from lineitem
where l_shipdate >= date '1994-01-01' and l_shipdate < date '1994-01-01' + interval '1' year
  and l_discount between .06 - 0.01 and .06 + 0.01 and l_quantity < 24
"""

#: name -> SQL; the answers are compared
QUERIES = {
    "TPC-H 1": Q1,
    "TPC-H 3": Q3,
    "TPC-H 6": Q6,
    "point look-up": "select * from lineitem where l_orderkey = 70531 order by l_linenumber",
    "count(*)": "select count(*) from lineitem",
}

#: reads every value of every column, and keeps none
FULL_READ = "full read"
FULL_READ_SQL = "select * from lineitem"
#: stands for the full read's answer
FULL_CHECK = "select count(*), sum(hash(*)) from lineitem"

TABLES = ("lineitem", "orders", "customer")
