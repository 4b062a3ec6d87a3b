/** A source with its mutants embedded: without an active one it behaves as before, and each mutant changes its behaviour. */
import { afterEach, expect, it } from 'vitest';
import { mutate } from '../../mutation/mutate.ts';

const SOURCE = `
export function told(value, told = []) {
  if (value > 1) told.push('big');
  else if (value === 1) told.push('one');
  else throw new Error('small');
  for (const each of told.filter(word => word !== '')) if (each) told.push(each.length || 0);
  return told.length > 5 ? [] : told;
}
`;

afterEach(() => {
  Reflect.deleteProperty(globalThis, '__isMutant');
});

async function load() {
  const { code, mutants } = mutate('told.ts', SOURCE, 1);
  const url = `data:text/javascript,${encodeURIComponent(code)}`;
  const { told } = (await import(/* @vite-ignore */ url)) as { told(value: number): unknown };
  const under = (mutant: number) => {
    Object.assign(globalThis, { __isMutant: (id: number) => id === mutant });
    return [0, 1, 2].map(value => {
      try {
        return JSON.stringify(told(value));
      } catch {
        return 'thrown';
      }
    });
  };
  return { mutants, under };
}

it('[MCP-7] behaves as before while no mutant is active', async () => {
  const { under } = await load();
  expect(under(0)).toEqual(['thrown', '["one",3]', '["big",3]']);
});

it('[MCP-7] behaves differently under most mutants', async () => {
  const { mutants, under } = await load();
  const before = JSON.stringify(under(0));
  const alike = mutants.filter(({ id }) => JSON.stringify(under(id)) === before);
  expect(alike.map(({ from, to }) => `${from} → ${to}`)).toEqual([
    'each → true',
    'told.length > 5 → (told.length) >= (5)',
    'told.length > 5 ? [] : told → told',
  ]);
});
