/** URIs without a server's name on an endpoint of many servers: read from the only server that can have them, or refused. */
import { describe, expect, it } from 'vitest';
import { parseCatalog, type Catalog } from '../../../src/servers/catalog/catalog.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { mayBeOf, ownerOf } from '../../../src/gateway/naming/bare-uri.ts';
import { createRecord } from './fakes.ts';

interface Has {
  listed?: string[];
  templates?: string[];
}

const catalogOf = ({ listed = [], templates = [] }: Has): Catalog =>
  parseCatalog(
    'h',
    JSON.stringify({
      resources: listed.map(uri => ({ uri, name: uri })),
      resourceTemplates: templates.map(uriTemplate => ({ uriTemplate, name: uriTemplate })),
    }),
  );

/** The name of the server (a, b, c …) that a URI resolves to. */
function owner(uri: string, ...servers: Has[]): string | undefined {
  const records = servers.map((_, i) => createRecord(String.fromCharCode(97 + i)));
  return ownerOf(uri, records, servers.map(catalogOf))?.name;
}

describe('ownerOf', () => {
  it('[MCP-3] finds the server that lists it, or has a template for it', () => {
    expect(owner('note://1', {}, { listed: ['note://1'] }, {})).toBe('b');
    expect(
      owner('note://1', { templates: ['file:///{path}'] }, { templates: ['note://{id}'] }),
    ).toBe('b');
    expect(owner('note://1', { listed: ['note://1'], templates: ['note://{id}'] }, {})).toBe('a');
    expect(owner('note://1', {}, { listed: ['note://2'] })).toBeUndefined();
  });

  it.each<[string, Has, Has]>([
    ['both list it', { listed: ['note://1'] }, { listed: ['note://1'] }],
    [
      'one lists what the other has a template for',
      { listed: ['note://1'] },
      { templates: ['note://{id}'] },
    ],
    ['both have a template', { templates: ['note://{id}'] }, { templates: ['note:{+rest}'] }],
  ])('[MCP-3] [SEC-8] refuses it if %s, whichever sorts first', (_, one, other) => {
    for (const servers of [
      [one, other],
      [other, one],
    ]) {
      const ask = () => owner('note://1', ...servers);
      expect(ask).toThrow(PorticoError);
      expect(ask).toThrow('ask for one of a+note://1, b+note://1');
    }
  });
});

describe('a refusal', () => {
  it('[MCP-3] [SEC-9] names five servers at most, and says if there are more', () => {
    const having = (count: number) => () =>
      owner('note://1', ...Array.from({ length: count }, () => ({ listed: ['note://1'] })));
    const five = ['a', 'b', 'c', 'd', 'e'].map(name => `${name}+note://1`).join(', ');
    const said = (list: string) =>
      expect.objectContaining({
        message: `Several servers have this resource; ask for one of ${list}`,
      });
    expect(having(5)).toThrow(said(five));
    expect(having(6)).toThrow(said(`${five}, …`));
  });
});

describe('mayBeOf', () => {
  it.each([
    ['note://{id}', 'note://1', true],
    ['note://{id}', 'note://1/2', false],
    ['note://{+path}', 'note://1/2', true],
    ['note://{id}/raw', 'note://1/raw', true],
    ['note://{id}/raw', 'note:///raw', true],
    ['note://{id}/raw', 'note://raw', false],
    ['note://{a}/{b}', 'note://1/2', true],
    ['search:{?q,limit}', 'search:?q=1', true],
    ['search:{?q,limit}', 'search:', true],
    ['{+any}', 'note://1', false],
    ['note://1', 'note://1', false],
    ['note://}{', 'note://x', false],
    ['n{id}', 'n1', true],
    ['note://{', 'note://x', false],
    ['note://}', 'note://x', false],
    ['n{}', 'nx', true],
  ])('[MCP-3] %s, %s: %s', (template, uri, expected) => {
    expect(mayBeOf(template, uri)).toBe(expected);
  });
});
