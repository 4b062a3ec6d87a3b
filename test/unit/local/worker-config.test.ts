/** What the local host reads from wrangler.toml, and that it refuses what it cannot read. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseWorkerConfig } from '../../../local/worker-config.ts';

it('[OPS-3] gives the local host every binding of wrangler.toml', () => {
  const text = readFileSync(new URL('../../../wrangler.toml', import.meta.url), 'utf8');
  const config = parseWorkerConfig(text);
  expect(config.databases).toEqual({ DB: 'portico' });
  expect(config.namespaces).toEqual(['CATALOG']);
  expect(config.assets).toBe('ASSETS');
  expect(config.objects).toEqual({
    AUDIT_LOG: { className: 'AuditLog', useSQLite: true },
    CALL_CHAIN: { className: 'CallChain', useSQLite: true },
    CONNECTOR: { className: 'Connector', useSQLite: true },
    RESULT_CACHE: { className: 'ResultCache', useSQLite: true },
    CLIENT_SESSION: { className: 'ClientSession', useSQLite: true },
    SERVER_MONITOR: { className: 'ServerMonitor', useSQLite: true },
    ACCESS_CHANGES: { className: 'AccessChanges', useSQLite: true },
    WEBHOOKS: { className: 'Webhooks', useSQLite: true },
  });
  expect(config.compatibilityDate).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(text).toContain(config.compatibilityDate);
});

it('reads comments, flags and classes without SQLite', () => {
  const config = parseWorkerConfig(
    [
      'compatibility_date = "2026-01-01" # a comment',
      'compatibility_flags = ["a", "b"]',
      '[vars]',
      'X = "1"',
      '[[durable_objects.bindings]]',
      'name = "O"',
      'class_name = "Old"',
      '[assets]',
      'binding = "FILES"',
    ].join('\r\n'),
  );
  expect(config.compatibilityFlags).toEqual(['a', 'b']);
  expect(config.objects).toEqual({ O: { className: 'Old', useSQLite: false } });
});

it.each(['a = """', 'a = { b = 1 }', 'a = [1]', 'a = "x\\ny"', 'nothing', 'a ='])(
  'refuses the line %j with its number',
  line => {
    const text = `compatibility_date = "2026-01-01"\n${line}\n`;
    expect(() => parseWorkerConfig(text)).toThrow('wrangler.toml, line 2, cannot be read');
  },
);

it('refuses a file without a compatibility date', () => {
  expect(() => parseWorkerConfig('name = "x"')).toThrow('no text for compatibility_date');
});
