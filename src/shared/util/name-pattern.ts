/**
 * Patterns over servers and tools, as rules, tokens and toolsets write them. `*` stands for any characters, everything else
 * for itself. A server is matched by its id, or by its name without regard to case; a tool by its own name exactly. Pure.
 */
import { z } from 'zod';

/** The part of a server a pattern looks at. */
export interface NamedServer {
  id: string;
  name: string;
}

/** A qualified pattern taken apart: `github.create_*`. */
export interface QualifiedPattern {
  server: string;
  tool: string;
}

/** Matches every tool, and what a server offers beside tools. */
export const EVERYTHING = '*';
/** Longest pattern, in characters. */
export const MAX_PATTERN_CHARS = 300;
/** Most `*` of one pattern: matching takes time with each of them. */
export const MAX_WILDCARDS = 8;

/** Whether a text is what a pattern stands for. Takes time in proportion to both lengths, whatever they hold. */
export function matches(pattern: string, text: string): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let mark = 0;
  while (at < text.length) {
    if (pattern[from] === '*') {
      star = from;
      mark = at;
      from += 1;
    } else if (from < pattern.length && pattern[from] === text[at]) {
      from += 1;
      at += 1;
    } else if (star !== -1) {
      from = star + 1;
      mark += 1;
      at = mark;
    } else {
      return false;
    }
  }
  while (pattern[from] === '*') from += 1;
  return from === pattern.length;
}

/** A pattern made ready for many texts: most are a whole name, or a part of one. */
export function toMatcher(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) return text => text === pattern;
  const [, before, middle = '', after] = /^(\*?)([^*]*)(\*?)$/.exec(pattern) ?? [];
  if (before === undefined) return text => matches(pattern, text);
  if (before === '') return text => text.startsWith(middle);
  return after === '' ? text => text.endsWith(middle) : text => text.includes(middle);
}

const ID_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a pattern stands for a server. What has the form of an id is no name, so that no server takes the place of another by its name. */
export function matchesServer(pattern: string, { id, name }: NamedServer): boolean {
  if (pattern === id) return true;
  return !ID_FORM.test(pattern) && matches(pattern.toLowerCase(), name.toLowerCase());
}

/**
 * Take a qualified pattern apart at its first dot, which no server's name and no id holds; without one it stands for whole
 * servers.
 */
export function parseQualifiedPattern(pattern: string): QualifiedPattern {
  const at = pattern.indexOf('.');
  if (at === -1) return { server: pattern, tool: EVERYTHING };
  return { server: pattern.slice(0, at), tool: pattern.slice(at + 1) };
}

const isBounded = (pattern: string) => pattern.split('*').length - 1 <= MAX_WILDCARDS;
/** A pattern over names; `*` stands for any characters. */
export const PatternSchema = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .refine(isBounded, `use ${MAX_WILDCARDS} "*" at most`);
