/** What is kept of a client's capabilities: the kinds of clients are few, whatever a client writes. */
import { expect, it } from 'vitest';
import {
  capabilitiesKey,
  clientCapabilitiesOf,
  fillsForms,
} from '../../../src/shared/client-capabilities.ts';

it('[SEC-4] [MCP-5] a client that varies what it declares stays of one kind', () => {
  const keys = new Set<string>();
  for (let i = 0; i < 500; i += 1) {
    const large = 'x'.repeat(100 * i);
    const declared = {
      sampling: { tools: { [`own${i}`]: {} }, [`part${i}`]: large },
      elicitation: { form: { own: i }, [`part${i}`]: { large } },
      roots: { listChanged: i % 2 === 0, [`part${i}`]: large },
    };
    keys.add(capabilitiesKey(clientCapabilitiesOf(declared)));
  }
  const kept = { elicitation: { form: {} }, roots: {}, sampling: { tools: {} } };
  expect([...keys]).toEqual([JSON.stringify(kept)]);
});

it('[MCP-5] each part that the protocol names is kept, in any order', () => {
  const all = {
    sampling: { tools: {}, context: {} },
    roots: {},
    elicitation: { url: {}, form: {} },
  };
  const kept = clientCapabilitiesOf(all);
  expect(kept).toEqual(all);
  const { elicitation, roots, sampling } = all;
  expect(capabilitiesKey(clientCapabilitiesOf({ elicitation, roots, sampling }))).toBe(
    capabilitiesKey(kept),
  );
});

it.each([undefined, null, 'x', 7, [], { elicitation: null, sampling: true, roots: [] }])(
  '[MCP-5] [SEC-8] nothing is kept of %j',
  given => {
    const kept = clientCapabilitiesOf(given);
    expect([kept, capabilitiesKey(kept)]).toEqual([{}, '']);
  },
);

it('[MCP-5] a client that declares elicitation without a mode fills in forms', () => {
  const kept = clientCapabilitiesOf({ elicitation: { applyDefaults: true } });
  expect([kept, fillsForms(kept)]).toEqual([{ elicitation: {} }, true]);
});
