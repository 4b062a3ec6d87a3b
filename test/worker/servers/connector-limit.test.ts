/** The number of servers of a connector, when its machine registers several at the same moment. */
import { expect, it } from 'vitest';
import { advertise, type Offered } from '../support/connected-program.ts';
import { enrol } from '../support/fake-machine.ts';
import { createPortico } from '../support/portico.ts';

const portico = createPortico({ PORTICO_CONNECTOR_SERVERS: '2' });

it('[CLI-1] [SEC-4] holds for registrations at the same moment, each of which is told', async () => {
  const { token } = await enrol(portico, 'crowd');
  const names = Array.from({ length: 6 }, (_, at) => `crowd-${at}`);
  const answers = await Promise.all(names.map(name => advertise(portico, token, name)));
  const offers = await Promise.all(answers.map(answer => answer.json<Offered>()));
  const servers = offers.flatMap(offer => offer.servers);
  const refused = servers.filter(({ id }) => id === null);
  expect(servers).toHaveLength(names.length);
  expect(refused).toHaveLength(names.length - 2);
  for (const { problem } of refused) expect(problem).toContain('PORTICO_CONNECTOR_SERVERS');
});
