/**
 * Patterns over servers and tools, as rules, tokens and toolsets write them. `*` stands for any characters, every other character for
 * itself. A server is matched by its id, or by its name ignoring case; a tool by its exact own name. Pure.
 */
import { z } from 'zod';

/** The part of a server that patterns are matched against. */
export interface NamedServer {
  id: string;
  name: string;
}

/** The parts of a qualified pattern: `github.create_*`. */
export interface QualifiedPattern {
  server: string;
  tool: string;
}

/** Matches every tool, and what a server offers besides tools. */
export const EVERYTHING = '*';
/** Longest pattern, in characters. */
export const MAX_PATTERN_CHARS = 300;
/** Most `*` in one pattern: each costs matching time. */
export const MAX_WILDCARDS = 8;

/** Whether a text matches a pattern. Takes time proportional to the product of both lengths at most. */
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

/** Prepares a pattern for many texts; most patterns are a whole name, or a part of one. */
export function toMatcher(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) return text => text === pattern;
  const [, before, middle = '', after] = /^(\*?)([^*]*)(\*?)$/.exec(pattern) ?? [];
  if (before === undefined) return text => matches(pattern, text);
  if (before === '') return text => text.startsWith(middle);
  return after === '' ? text => text.endsWith(middle) : text => text.includes(middle);
}

const ID_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Whether a pattern matches a server. A pattern in the form of an id never matches a name, so that no server can take another's place by
 * its name.
 */
export function matchesServer(pattern: string, { id, name }: NamedServer): boolean {
  if (pattern === id) return true;
  return !ID_FORM.test(pattern) && matches(pattern.toLowerCase(), name.toLowerCase());
}

/**
 * Splits a qualified pattern at its first dot, which no server name and no id contains; a pattern without a dot stands for whole servers.
 */
export function parseQualifiedPattern(pattern: string): QualifiedPattern {
  const at = pattern.indexOf('.');
  if (at === -1) return { server: pattern, tool: EVERYTHING };
  return { server: pattern.slice(0, at), tool: pattern.slice(at + 1) };
}

const isBounded = (pattern: string) => pattern.split('*').length - 1 <= MAX_WILDCARDS;
/** A pattern over names, within the limits above. */
export const PatternSchema = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .refine(isBounded, `use ${MAX_WILDCARDS} "*" at most`);
