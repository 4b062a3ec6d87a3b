/** What `portico doctor` says of the programs of a configuration file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkConfig } from '../../../cli/src/doctor/check-machine.ts';

it('[CLI-4] judges programs as portico connect runs them: variables are filled, disabled ones left out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-doctor-'));
  try {
    const file = join(folder, 'mcp.json');
    const servers = {
      here: { command: '${HERE}' },
      off: { command: 'no-such-program', disabled: true },
    };
    await writeFile(file, JSON.stringify({ mcpServers: servers }));
    const states = async (env: Record<string, string>) =>
      (await checkConfig(file, env)).map(({ check, state, detail }) => [check, state, detail]);
    expect(await states({ HERE: process.execPath })).toEqual([
      ['config file', 'ok', `${file}, 2 servers`],
      ['command of here', 'ok', process.execPath],
    ]);
    expect((await states({}))[1]).toEqual(['command of here', 'failed', 'HERE is not set']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
