package io.github.quiverspark.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.internal.SQLConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuiverSettingsTest {
  private static final String CODEC = "spark.quiver.compression.codec";

  @Test
  void defaultsAreValid() {
    for (Setting<?> setting : QuiverSettings.all()) {
      if (setting.defaultText() != null) {
        setting.parse(setting.defaultText());
      }
    }
    SQLConf conf = new SQLConf();
    assertTrue(QuiverSettings.enabled(conf));
    assertTrue(QuiverSettings.scanEnabled(conf));
    assertEquals(4L << 20, QuiverSettings.batchMaxBytes(conf));
  }

  @Test
  void everyKeyIsOursAndDocumented() {
    for (Setting<?> setting : QuiverSettings.all()) {
      assertTrue(setting.key().matches("spark\\.quiver\\.[a-z][A-Za-z.]*"), setting.key());
      assertFalse(setting.doc().isBlank(), setting.key());
      assertTrue(!setting.type().equals("boolean") || setting.key().endsWith("enabled"), setting.key());
    }
  }

  @Test
  void optionsForTheNativeLibrary() {
    SQLConf conf = new SQLConf();
    conf.setConfString(CODEC, "LZ4");
    conf.setConfString("spark.quiver.compression.zstd.level", " 7 ");
    assertEquals("codec=lz4\nzstd.level=7", QuiverSettings.encoderOptions(conf));
    SparkConf start = new SparkConf(false).set("spark.quiver.native.memoryLimit", "2g");
    assertEquals("threads=8\nmemory.limit=2147483648", QuiverSettings.processOptions(8, QuiverSettings.memoryLimit(start, 8)));
  }

  @Test
  void theNativeLimitFollowsFromThreadsBatchesAndMemory() {
    long mib = 1L << 20;
    // little memory beyond the heap: what the threads need
    assertEquals(8 * 16 * 4 * mib, NativeLimit.derived(8, 4 * mib, 4500 * mib, 4096 * mib));
    assertEquals(2 * 16 * 64 * mib, NativeLimit.derived(2, 64 * mib, 4096 * mib, 4096 * mib));
    // plenty: half of it
    assertEquals(11 * 1024 * mib, NativeLimit.derived(2, 4 * mib, 24 * 1024 * mib, 2 * 1024 * mib));
    // the default is a limit, and threads and batch size raise it
    long few = NativeLimit.bytes(new SparkConf(false), 1);
    long many = NativeLimit.bytes(new SparkConf(false).set("spark.quiver.batch.maxBytes", "1g"), 4096);
    assertTrue(few > 0 && few < many, few + " and " + many);
    assertEquals(4096L * 16 << 30, many);
    assertEquals(0, NativeLimit.bytes(new SparkConf(false).set("spark.quiver.native.memoryLimit", "0"), 8));
    assertEquals(few, NativeLimit.bytes(new SparkConf(false).set("spark.quiver.native.memoryLimit", "Auto"), 1));
  }

  @ParameterizedTest
  @CsvSource({
    "spark.quiver.enabled, yes, true or false",
    "spark.quiver.compression.codec, gzip, 'pack, zstd, lz4, none'",
    "spark.quiver.compression.codec, '', 'pack, zstd, lz4, none'",
    "spark.quiver.compression.zstd.level, 0, from 1 to 22",
    "spark.quiver.compression.zstd.level, 23, from 1 to 22",
    "spark.quiver.compression.zstd.level, fast, from 1 to 22",
    "spark.quiver.batch.maxBytes, 0, from 1 to 1g",
    "spark.quiver.batch.maxBytes, -1, from 1 to 1g",
    "spark.quiver.batch.maxBytes, 2g, from 1 to 1g",
    "spark.quiver.batch.maxBytes, many, from 1 to 1g",
    "spark.quiver.native.memoryLimit, -1, auto or a size from 0",
    "spark.quiver.native.memoryLimit, much, auto or a size from 0",
  })
  void wrongValuesAreErrorsThatListTheRightOnes(String key, String value, String right) {
    SparkConf start = new SparkConf(false).set(key, value);
    String message = assertThrows(IllegalArgumentException.class, () -> QuiverSettings.check(start)).getMessage();
    assertTrue(message.contains(key) && message.contains("'" + value + "'") && message.contains(right), message);
    // the same when a session is told
    message = assertThrows(IllegalArgumentException.class, () -> new SQLConf().setConfString(key, value)).getMessage();
    assertTrue(message.contains(key) && message.contains(right), message);
  }

  @Test
  void startUpSettingsCannotBeChangedLater() {
    assertTrue(SQLConf.isStaticConfigKey("spark.quiver.native.memoryLimit"));
    assertTrue(SQLConf.isStaticConfigKey("spark.quiver.status"));
    assertFalse(SQLConf.isStaticConfigKey(CODEC));
    assertTrue(new SQLConf().isModifiable(CODEC));
  }

  @Test
  void unknownKeysFindTheirNeighbour() {
    assertNull(QuiverSettings.find("spark.quiver.compression.Codec"));
    assertEquals(CODEC, QuiverSettings.nearest("spark.quiver.compression.Codec"));
    assertEquals(CODEC, QuiverSettings.nearest("spark.quiver.compresion.codec"));
    assertEquals("spark.quiver.batch.maxBytes", QuiverSettings.nearest("spark.quiver.batch.maxbyte"));
    assertNull(QuiverSettings.nearest("spark.quiver.something.else"));
    QuiverSettings.check(new SparkConf(false).set("spark.quiver.compresion.codec", "zstd"));
  }

  @Test
  void documentationIsNotStale() throws Exception {
    Path file = Path.of("..", "..", "docs", "configuration.md");
    assertEquals(SettingsDocs.markdown(), Files.readString(file), "run `make docs`");
  }
}
