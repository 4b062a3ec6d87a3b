/**
 * Reads from a guide's Markdown what its reader is to do: each `sh` block in order, with its info string and the following `text` block,
 * and each `<!-- Ctrl-C -->`. It runs nothing. Throws if a guide uses something that the tests do not know.
 */

/** Why a block is not run: what it needs and a test on one machine does not have. */
export const SKIP_REASONS = [
  'needs-another-machine',
  'needs-a-client',
  'needs-a-model',
  'needs-a-new-version',
  'changes-the-machine',
  'takes-minutes',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export interface BlockStep {
  /** `background`: it continues in its own terminal, once it has printed the expected output. `cloudflare`: it calls Cloudflare. */
  kind: 'command' | 'background' | 'cloudflare';
  line: number;
  command: string;
  expected: readonly string[];
}

export type Step =
  | { kind: 'ctrl-c'; line: number }
  | { kind: 'skipped'; line: number; reason: SkipReason }
  | BlockStep;

const isReason = (text: string): text is SkipReason =>
  (SKIP_REASONS as readonly string[]).includes(text);

const isKind = (text: string): text is BlockStep['kind'] =>
  text === 'command' || text === 'background' || text === 'cloudflare';

interface Block {
  info: string;
  line: number;
  text: string;
}

function toStep({ info, line, text }: Block): Step | undefined {
  const [language, option, ...more] = info.split(' ');
  if (language !== 'sh') return undefined;
  const reason = option?.startsWith('skip=') ? option.slice('skip='.length) : undefined;
  if (more.length === 0 && reason !== undefined && isReason(reason)) {
    return { kind: 'skipped', line, reason };
  }
  const kind = option ?? 'command';
  if (more.length > 0 || !isKind(kind)) throw new Error(`line ${line}: no test knows "${info}"`);
  return { kind, line, command: text, expected: [] };
}

/** Returns the steps of a guide, in order. */
export function readSteps(markdown: string): Step[] {
  const steps: Step[] = [];
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const fence = /^( *)```(.*)$/.exec(lines[at] ?? '');
    if (lines[at]?.trim() === '<!-- Ctrl-C -->') steps.push({ kind: 'ctrl-c', line: at + 1 });
    if (!fence) continue;
    const [, indent = '', info = ''] = fence;
    const end = lines.indexOf(`${indent}\`\`\``, at + 1);
    if (end < 0) throw new Error(`line ${at + 1}: a block that does not end`);
    const text = lines
      .slice(at + 1, end)
      .map(line => line.slice(indent.length))
      .join('\n');
    const last = steps.at(-1);
    if (info === 'text' && last && 'expected' in last) {
      last.expected = text.split('\n').filter(line => line.trim() !== '');
    }
    const step = toStep({ info: info.trim(), line: at + 1, text });
    if (step) steps.push(step);
    at = end;
  }
  return steps;
}

const squeeze = (line: string): string => line.trim().replace(/\s+/gu, ' ');

/**
 * Returns the first expected line that the output does not contain after the line before it; undefined if it contains all. `…` matches
 * anything within a line, and any white space counts as one space.
 */
export function findMissing(expected: readonly string[], output: string): string | undefined {
  const lines = output.split('\n').map(squeeze);
  let from = 0;
  return expected.find(line => {
    const parts = squeeze(line).split('…');
    const pattern = new RegExp(
      `^${parts.map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&')).join('.*')}$`,
      'u',
    );
    const found = lines.findIndex((each, at) => at >= from && pattern.test(each));
    from = found + 1;
    return found < 0;
  });
}
