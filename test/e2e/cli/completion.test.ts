/** `portico completion`: bash runs its script; the scripts of the other shells are compared with the same command tree. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { runPortico } from '../support/portico-command.ts';

let bash: string;

beforeAll(async () => {
  bash = (await runPortico(['completion', 'bash'])).out;
});

/** Returns what bash offers for the last of the words. */
async function complete(...words: string[]): Promise<string[]> {
  const typed = words.map(word => `'${word}'`).join(' ');
  const script = `${bash}
    COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _portico
    printf '%s\\n' "\${COMPREPLY[@]}"; complete -p portico`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-uc', script]);
  expect(stderr).toBe('');
  const lines = stdout.trimEnd().split('\n');
  expect(lines.pop()).toBe('complete -o default -F _portico portico');
  return lines.filter(line => line !== '');
}

describe('bash', () => {
  it.each([
    [
      ['portico', 'se'],
      ['servers', 'search', 'secrets'],
    ],
    [['portico', 'search', 'x', '--li'], ['--limit']],
    [
      ['portico', 'to'],
      ['tools', 'token', 'toolsets'],
    ],
    [['portico', 'servers', 'con'], ['connect']],
    [
      ['portico', 'servers', 'add', '--he'],
      ['--header', '--help'],
    ],
    [['portico', 'servers', '--j'], ['--json']],
    [['portico', 'servers', 'add', 'x', '--s'], ['--sse']],
    [['portico', 'token', 'create', '--sc'], ['--scope']],
    [
      ['portico', 'rules', 'add', '--effect', ''],
      ['allow', 'deny'],
    ],
    [
      ['portico', 'import', '--on-conflict', ''],
      ['skip', 'update', 'fail'],
    ],
    [['portico', 'import', '--on-conflict', 'u'], ['update']],
    [['portico', 'completion', 'z'], ['zsh']],
    [['portico', 'call', 'x.y', '--args-'], ['--args-file']],
    [['portico', 'nonsense', '--vers'], ['--version']],
    [['portico', 'servers', 'zzz'], []],
  ])('[CLI-4] completes %j', async (words, expected) => {
    expect(await complete(...words)).toEqual(expected);
  });

  it('[CLI-4] offers every command', async () => {
    const { out } = await runPortico(['--help']);
    const list = out.slice(out.indexOf('Commands:'), out.indexOf('Exit codes:'));
    const commands = [...list.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    expect(commands.length).toBeGreaterThan(7);
    expect(await complete('portico', '')).toEqual(expect.arrayContaining(commands));
  });
});

it.each([
  ['bash', /^ {4}'portico[^']*'\) words='(.*)' ;;$/gm, /\S+/g],
  ['zsh', /^ {4}'portico[^']*'\) names=\((.*)\) ;;$/gm, /(?<=(?:^| )')[^:' ]+(?=:)/g],
  ['fish', /^(complete .*)$/gm, /^.*? (?:-l|-a|-F|-f).*?(?= -|$)/g],
])('[CLI-4] the script for %s contains each word once', async (shell, list, word) => {
  const { out } = await runPortico(['completion', shell]);
  const lists = [...out.matchAll(list)].map(([, text = '']) => text.match(word) ?? []);
  const told = shell === 'fish' ? [lists.flat()] : lists;
  expect(told.flat().length).toBeGreaterThan(100);
  for (const words of told) expect(words).toEqual([...new Set(words)]);
});

describe('other shells', () => {
  it('[CLI-4] zsh gets the same words, with their descriptions', async () => {
    const { out, code } = await runPortico(['completion', 'zsh']);
    expect(code).toBe(0);
    expect(out).toMatch(/^#compdef portico\n/);
    expect(out).toContain(`'doctor:find problems, and what to do about them'`);
    expect(out).toContain(`'portico servers add') names=('--sse:`);
    expect(out).toContain(`'--on-conflict') names=('skip' 'update' 'fail')`);
  });

  it('[CLI-4] fish gets the same words, with their descriptions', async () => {
    const { out } = await runPortico(['completion', 'fish']);
    const at = String.raw`complete -c portico -n 'test (__portico_at) = \'portico import\''`;
    expect(out).toContain(`${at} -l on-conflict -x -a 'skip update fail' -d `);
    // Files are offered where an argument is a file.
    expect(out).toContain(`${at} -F\n`);
    expect(out).toContain('\ncomplete -c portico -f\n');
    expect(out).toMatch(/'portico call.*-l args-file -r -F /);
    expect(out).toMatch(/'portico call.*-l args -x /);
    expect(out).toMatch(/'portico call.*-l json -d /);
    expect(out).toContain(`-a 'doctor' -d 'find problems, and what to do about them'\n`);
  });

  it('[CLI-4] refuses an unknown shell', async () => {
    const { code, err } = await runPortico(['completion', 'csh']);
    expect(code).toBe(2);
    expect(err).toMatch(/bash, zsh, fish/);
  });
});
