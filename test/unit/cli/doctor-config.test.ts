/** What `portico doctor` says of the programs of a configuration file. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
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
    expect((await states({}))[1]).toEqual([
      'command of here',
      'failed',
      'here needs environment variables that are not set: HERE',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('[CLI-4] looks for programs in the folder and the PATH of their entry', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-doctor-'));
  try {
    const [file, tools] = [join(folder, 'mcp.json'), join(folder, 'tools')];
    await mkdir(tools);
    await writeFile(join(tools, 'serve'), '#!/bin/sh\n', { mode: 0o755 });
    const servers = {
      path: { command: './serve', cwd: 'tools' },
      name: { command: 'serve', env: { PATH: '${TOOLS}' } },
      elsewhere: { command: './serve', cwd: '.' },
      nowhere: { command: 'serve', cwd: 'gone', env: { PATH: tools } },
      secret: { command: './serve', cwd: 'tools', args: ['${TOKEN}'] },
    };
    await writeFile(file, JSON.stringify({ mcpServers: servers }));
    const [, ...found] = await checkConfig(file, { TOOLS: tools, PATH: '/nowhere' });
    expect(found.map(({ state, detail }) => [state, detail])).toEqual([
      ['ok', join(tools, 'serve')],
      ['ok', join(tools, 'serve')],
      ['failed', `${join(folder, 'serve')} is not a program`],
      ['failed', `${join(folder, 'gone')} is not a folder`],
      ['failed', 'secret needs environment variables that are not set: TOKEN'],
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
