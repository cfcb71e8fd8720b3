package corpus

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/rand"
	"time"

	"github.com/quiverspark/quiver/native/column"
)

// Public has columns as they are met in the wild, three of each sort.
var Public = Relation{Name: "public", Columns: []string{
	"ts_poisson", "ts_second_jitter", "ts_shuffled_day", "uuid_v4_text", "uuid_v7_text", "md5_hex",
	"json_event", "json_nested", "json_array", "price_retail", "price_stock_walk", "price_usd_text",
	"lat_gps", "lon_track", "geohash", "category_zipf", "country_skewed", "status_rare",
	"url", "ip", "email", "user_agent", "ts_text", "double_random", "double_sensor"},
	Batches: func(rows int) iter.Seq[[]*column.Column] {
		r := rand.New(rand.NewSource(4))
		g := &publicState{r: r, zipf: rand.NewZipf(r, 1.3, 3, 5000), country: rand.NewZipf(r, 1.5, 1, 190), at: 1.7e15, lon: 8.54, stock: 14250}
		return cut(rows, g.batch)
	}}

type publicState struct {
	r             *rand.Rand
	zipf, country *rand.Zipf
	at            int64
	lon           float64
	stock         int64
}

func (g *publicState) batch(from, n int) []*column.Column {
	r := g.r
	text := func(f func(row int) string) *column.Column {
		return Texts(from, n, func(dst []byte, row int) ([]byte, bool) { return append(dst, f(row)...), true })
	}
	long := func(f func(row int) int64) *column.Column { return Longs(Int64, from, n, all(f)) }
	double := func(f func(row int) float64) *column.Column { return Doubles(from, n, all(f)) }
	hex := func(bytes int) string {
		b := make([]byte, bytes)
		r.Read(b)
		return fmt.Sprintf("%x", b)
	}
	dashed := func(s string) string { return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:] }
	day := g.at
	return []*column.Column{
		long(func(int) int64 { g.at += int64(r.ExpFloat64() * 50000); return g.at }),
		long(func(row int) int64 { return 1.7e15 + int64(row)*1e6 + r.Int63n(2000) }),
		long(func(int) int64 { return (day + r.Int63n(86400e6)) / 1000 * 1000 }),
		text(func(int) string { return dashed(hex(16)) }),
		text(func(row int) string {
			var b [8]byte
			binary.BigEndian.PutUint64(b[:], uint64(1.7e12+float64(row)*3))
			return dashed(fmt.Sprintf("%x7%s", b[2:], hex(16)[:19]))
		}),
		text(func(int) string { return hex(16) }),
		text(func(row int) string {
			return fmt.Sprintf(`{"event":"%s","user":%d,"ts":%d,"ok":%v}`, pick(r, []string{"click", "view", "purchase", "scroll"}),
				r.Intn(1e6), 1700000000+row, r.Intn(10) > 0)
		}),
		text(func(row int) string {
			return fmt.Sprintf(`{"id":"%s","geo":{"lat":%.5f,"lon":%.5f},"tags":["%s","%s"],"n":%d}`, hex(6), 40+r.Float64()*10, r.Float64()*20,
				pick(r, words), pick(r, words), r.Intn(100))
		}),
		text(func(int) string { return fmt.Sprintf("[%d,%d,%d]", r.Intn(1000), r.Intn(1000), r.Intn(1000)) }),
		double(func(int) float64 { return float64(r.Intn(200))*5 + pick(r, []float64{0.99, 0.49, 0.95, 0}) }),
		double(func(int) float64 { g.stock += r.Int63n(21) - 10; return float64(g.stock) / 100 }),
		text(func(int) string { return fmt.Sprintf("$%d.%02d", r.Intn(3000), r.Intn(100)) }),
		double(func(int) float64 { return math.Round((47.3+r.NormFloat64()*0.1)*1e6) / 1e6 }),
		double(func(int) float64 { g.lon += r.NormFloat64() * 1e-4; return math.Round(g.lon*1e7) / 1e7 }),
		text(func(int) string {
			b := []byte("u0q")
			for range 6 {
				b = append(b, "0123456789bcdefghjkmnpqrstuvwxyz"[r.Intn(32)])
			}
			return string(b)
		}),
		text(func(int) string {
			return fmt.Sprintf("category/%s/%d", words[g.zipf.Uint64()%uint64(len(words))], g.zipf.Uint64())
		}),
		text(func(int) string { c := g.country.Uint64(); return string([]byte{'A' + byte(c%26), 'A' + byte(c/26)}) }),
		text(func(int) string {
			if r.Intn(500) == 0 {
				return "FAILED"
			}
			return "OK"
		}),
		text(func(int) string {
			return fmt.Sprintf("https://www.example.org/%s/%s?id=%d&ref=%s", pick(r, words), pick(r, words), r.Intn(1e5), hex(2))
		}),
		text(func(int) string { return fmt.Sprintf("10.%d.%d.%d", r.Intn(16), r.Intn(256), r.Intn(256)) }),
		text(func(int) string {
			return fmt.Sprintf("%s.%s%d@%s.com", pick(r, words), pick(r, words), r.Intn(100), pick(r, []string{"mail", "example", "post", "corp"}))
		}),
		text(func(int) string {
			return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.%d (KHTML, like Gecko) Chrome/%d.0.%d.%d Safari/537.36",
				pick(r, []string{"Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64"}), r.Intn(40), 90+r.Intn(30),
				r.Intn(6000), r.Intn(200))
		}),
		text(func(row int) string { return time.Unix(1.7e9+int64(row)*7+r.Int63n(7), 0).UTC().Format(time.DateTime) }),
		double(func(int) float64 { return r.NormFloat64() }),
		double(func(row int) float64 { return 20 + 5*math.Sin(float64(row)/5000) + float64(r.Intn(100))/1000 }),
	}
}
