/** `portico doctor` on set-ups that are broken in one place each: it names that place, what to do, and nothing else. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort, startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { makeToken, startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico, type Ran } from '../support/portico-command.ts';
import { sendText, startScripted, type Script } from '../support/scripted-gateway.ts';

interface Check {
  check: string;
  state: 'ok' | 'failed' | 'skipped';
  detail: string;
  advice?: string;
}

let gateway: Gateway;
let upstream: Upstream;
let folder: string;

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([startGateway(), startFixture('rich-modern')]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
  folder = await mkdtemp(join(tmpdir(), 'portico-doctor-'));
  await write('mcp.json', { mcpServers: { files: { command: process.execPath } } });
});

afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function write(name: string, content: unknown): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Runs doctor on a working set-up, with the given changes. */
const doctor = (args: string[] = [], env: Record<string, string | undefined> = {}): Promise<Ran> =>
  runPortico(['doctor', ...args], {
    cwd: folder,
    env: {
      PORTICO_URL: gateway.origin,
      PORTICO_TOKEN: gateway.adminToken,
      XDG_CONFIG_HOME: folder,
      ...env,
    },
  });

async function failures(
  args: string[] = [],
  env: Record<string, string | undefined> = {},
): Promise<Check[]> {
  const ran = await doctor([...args, '--json'], env);
  const { ok, checks } = ran.json<{ ok: boolean; checks: Check[] }>();
  const failed = checks.filter(({ state }) => state === 'failed');
  expect({ ok, code: ran.code }).toEqual({
    ok: failed.length === 0,
    code: failed.length === 0 ? 0 : 1,
  });
  expect(failed.every(({ advice }) => (advice ?? '') !== '')).toBe(true);
  expect(ran.out + ran.err).not.toContain(gateway.adminToken);
  return failed;
}

/** Returns the only problem, as a line. */
async function failure(
  args: string[] = [],
  env: Record<string, string | undefined> = {},
): Promise<string> {
  const failed = await failures(args, env);
  expect(failed).toHaveLength(1);
  const [{ check, detail, advice } = { check: '', detail: '', advice: '' }] = failed;
  return `${check}: ${detail}; ${advice}`;
}

async function behind(script: Script, run: (origin: string) => Promise<void>): Promise<void> {
  const scripted = await startScripted(script);
  try {
    await run(scripted.origin);
  } finally {
    await scripted.close();
  }
}

/** Answers like a working gateway, except for what `health` says. */
const like = (health: object, headers: object = {}): Script => {
  return (came, response: ServerResponse) => {
    const isHealth = came.url === '/health';
    sendText(
      response,
      JSON.stringify(isHealth ? health : { scopes: ['servers:read'], servers: [] }),
      isHealth ? headers : {},
    );
  };
};

describe('a working set-up', () => {
  it('[CLI-4] prints a line for each check, and exits with code 0', async () => {
    expect(await failures()).toEqual([]);
    const { code, out, err } = await doctor();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^✓ Node: /);
    expect(out).toContain(`✓ config file: mcp.json, 1 server\n`);
    expect(out).toContain(`✓ command of files: ${process.execPath}\n`);
    expect(out).toContain('✓ token: valid; admin\n');
    expect(out).toContain('✓ servers: 1 connected\n');
  });

  it('[CLI-4] passes with a token that may do little', async () => {
    const { token } = await gateway.createToken({ name: 'member' });
    const env = { PORTICO_TOKEN: token };
    expect(await failures([], env)).toEqual([]);
    const { json: denied } = await gateway.api('GET', '/api/v1/audit?outcome=denied');
    expect(denied).toEqual({ events: [] });
    expect((await doctor([], env)).out).toContain('✓ token: valid; tools:read, tools:call\n');
  });
});

describe('a gateway', () => {
  it('[CLI-4] that does not run is reported', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    expect(await failure(['--url', url])).toMatch(/^gateway: .*ECONNREFUSED.*; start it/);
    const { out, err } = await doctor(['--url', url]);
    expect(out).toMatch(/^✗ gateway: .*ECONNREFUSED/m);
    expect(err).toBe('portico: 1 check failed\n');
  });

  it('[CLI-4] whose port another program uses is reported', async () => {
    await behind(
      (_came, response) => void response.writeHead(200).end('<h1>It works</h1>'),
      async origin => {
        expect(await failure(['--url', origin])).toMatch(
          /^gateway: another program answers.*free the port/,
        );
      },
    );
  });

  it('[CLI-4] that is not in order is reported as a gateway', async () => {
    const ill = { status: 'storage_unavailable', version: '0.1.0' };
    const answer: Script = (_came, response) =>
      void response.writeHead(503).end(JSON.stringify(ill));
    await behind(answer, async origin => {
      expect(await failure(['--url', origin])).toMatch(/^gateway: it answers storage_unavailable;/);
    });
  });

  it('[CLI-4] of another version is reported', async () => {
    await behind(like({ status: 'ok', version: '7.1.0' }), async origin => {
      expect(await failure(['--url', origin])).toMatch(/^version: the gateway is 7\.1\.0.*install/);
    });
  });

  it('[CLI-4] whose clock differs is reported', async () => {
    const date = new Date(Date.now() + 600_000).toUTCString();
    await behind(like({ status: 'ok', version: '0.1.0' }, { date }), async origin => {
      expect(await failure(['--url', origin])).toMatch(
        /^clock: [56]\d\d s apart.*synchronise the clock/,
      );
    });
  });

  it.each(['nonsense', 'http://example.com', 'http://127.0.0.1:8787/api'])(
    '[CLI-4] with a wrong address is reported: %s',
    async url => {
      expect(await failure([], { PORTICO_URL: url })).toMatch(/^gateway: .*see --url/);
    },
  );
});

describe('a token', () => {
  it('[CLI-4] that is missing is reported', async () => {
    expect(await failure([], { PORTICO_TOKEN: '' })).toMatch(
      /^token: none is given; .*PORTICO_TOKEN/,
    );
  });

  it('[CLI-4] that is unknown or revoked is reported', async () => {
    expect(await failure([], { PORTICO_TOKEN: makeToken() })).toMatch(/^token: .*does not know it/);
    const { id, token } = await gateway.createToken({ name: 'short' });
    expect(await failures([], { PORTICO_TOKEN: token })).toEqual([]);
    await gateway.api('DELETE', `/api/v1/tokens/${id}`);
    await until('it is known no more', 60_000, async () => {
      const [found] = await failures([], { PORTICO_TOKEN: token });
      return found?.check === 'token' ? true : undefined;
    });
  });

  it('[CLI-4] whose file is missing, or readable by others, is reported', async () => {
    const missing = await failures(['--token-file', join(folder, 'none')]);
    expect(missing.map(({ check }) => check)).toEqual(['token file', 'token']);
    const file = await write('token', gateway.adminToken);
    await chmod(file, 0o644);
    expect(await failure(['--token-file', file])).toMatch(
      /^token file: others can read.*chmod 600/,
    );
    await chmod(file, 0o600);
    expect(await failures(['--token-file', file])).toEqual([]);
  });

  it('[CLI-4] of a connector that others can read is reported', async () => {
    await mkdir(join(folder, 'portico'), { recursive: true });
    const file = await write('portico/connectors.json', {});
    await chmod(file, 0o640);
    expect(await failure()).toMatch(/^connector tokens: others can read.*chmod 600/);
    await chmod(file, 0o600);
    expect(await failures()).toEqual([]);
  });
});

describe('servers', () => {
  it('[CLI-4] that fail are reported with their error', async () => {
    const body = {
      name: 'broken',
      transport_type: 'HTTP',
      connection_config: { url: `http://127.0.0.1:${await findFreePort()}/mcp` },
    };
    const { json } = await gateway.api('POST', '/api/v1/aggregator/servers', body);
    await gateway.waitFor(String(json['id']), 'ERROR');
    expect(await failure()).toMatch(
      /^server broken: ERROR: .*reached.*portico servers connect broken/,
    );
    await gateway.api('DELETE', `/api/v1/aggregator/servers/${String(json['id'])}`);
    expect(await failures()).toEqual([]);
  });
});

describe('a configuration file', () => {
  it('[CLI-4] that is missing is reported', async () => {
    expect(await failure(['--config', 'none.json'])).toMatch(
      /^config file: none.json cannot be read \(ENOENT\)/,
    );
  });

  it.each([
    ['{"mcpServers": {', /is not valid JSON/],
    ['{"other": 1}', /has no "mcpServers"/],
    ['{"mcpServers": {"a": {"url": 7}}}', /mcpServers\.a.*fix these entries/],
  ])('[CLI-4] that is invalid is reported: %s', async (text, message) => {
    const file = await write('wrong.json', text);
    expect(await failure(['--config', file])).toMatch(message);
  });

  it('[CLI-4] whose program is not installed is reported', async () => {
    const servers = { here: { command: process.execPath }, gone: { command: 'no-such-program' } };
    const file = await write('programs.json', { mcpServers: servers });
    expect(await failure(['--config', file])).toMatch(
      /^command of gone: no-such-program is not in PATH/,
    );
  });
});

it('[CLI-4] reports a Node without WebSocket', async () => {
  expect(await failure([], { NODE_OPTIONS: '--no-experimental-websocket' })).toMatch(
    /^WebSocket: .*NODE_OPTIONS/,
  );
});

describe('a language model', () => {
  it('[CLI-4] [LLM-3] that refuses its key is reported, with the setting', async () => {
    const model = await startFixture('scripted-vectors', { key: 'the-right-key' });
    const own = await startGateway({
      env: {
        PORTICO_MODEL_URL: `${model.origin}/v1`,
        PORTICO_MODEL: 'vectors-1',
        PORTICO_MODEL_EMBED: 'vectors-1',
        PORTICO_MODEL_KEY: 'another-key',
      },
    });
    try {
      const env = { PORTICO_URL: own.origin, PORTICO_TOKEN: own.adminToken };
      expect((await doctor([], env)).out).toContain('✓ model: vectors-1; 0 calls today\n');
      await own.register('rich', `${upstream.origin}/mcp`);
      await until('the model was asked', 30_000, async () =>
        ((await model.counters())['refused'] ?? 0) >= 2 ? true : undefined,
      );
      const { code, out } = await until('both purposes failed', 30_000, async () => {
        const ran = await doctor([], env);
        return ran.out.includes('model for index') && ran.out.includes('model for skills')
          ? ran
          : undefined;
      });
      expect(code).toBe(1);
      expect(out).toMatch(/✗ model for index: auth; see PORTICO_MODEL_KEY\n/);
      expect(out).not.toContain('another-key');
    } finally {
      await own.stop();
      await model.stop();
    }
  });

  it('[CLI-4] that is not configured is no problem', async () => {
    expect((await doctor()).out).toContain('- model: the gateway has none');
  });
});
