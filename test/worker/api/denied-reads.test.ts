/** What REST refuses to read leaves a row, whatever the method of the request. */
import { expect, it } from 'vitest';
import { createPerson, rowsOf } from '../support/call-rows.ts';
import { createPortico } from '../support/portico.ts';

const portico = createPortico();
const ASKED = { principal: 'somebody', server: 'files', tool: 'read' };

it.each([
  ['HEAD', '/api/v1/keys', undefined],
  ['POST', '/api/v1/access/explain', ASKED],
  ['POST', '/api/v1/access/rules/preview', { replaces: 'a-rule' }],
  ['POST', '/api/v1/toolsets/preview', { replaces: 'a-toolset' }],
])(
  '[SEC-6] %s %s is refused to people, and the refusal is recorded',
  async (method, path, body) => {
    const person = await createPerson(portico);
    const { token } = person;
    const response = await portico.fetch(path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    expect(response.status).toBe(403);
    await portico.settle();
    const rows = await rowsOf(portico, person);
    expect(rows).toMatchObject([{ action: 'rest.read', subject: path, outcome: 'denied' }]);
  },
);
