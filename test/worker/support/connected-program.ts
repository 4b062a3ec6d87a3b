/** A connector with a connected program, and calls to it. */
import { expect } from 'vitest';
import { enrol, FakeMachine } from './fake-machine.ts';
import { FakeServer, type FakeServerOptions } from './fake-server.ts';
import { modern, SERVERS, TRUSTED, whenServer, type Portico, type RpcAnswer } from './portico.ts';

/** Where a connector registers its servers. */
export const SELF = '/api/v1/connectors/self/servers';

/** The response to a registration. */
export interface Offered {
  servers: {
    name: string;
    id: string | null;
    registered_as: string | null;
    problem: string | null;
  }[];
}

/** Registers programs, like a connector before it dials. */
export const advertise = (portico: Portico, token: string, ...names: string[]) =>
  portico.api('PUT', SELF, { servers: names.map(name => ({ name })) }, { token });

/** A connector whose machine has one server, connected. */
export async function connectedProgram(
  portico: Portico,
  name: string,
  options: FakeServerOptions = {},
) {
  const enrolled = await enrol(portico, `${name}-box`);
  const { servers } = await (await advertise(portico, enrolled.token, name)).json<Offered>();
  const id = servers[0]?.id ?? '';
  const server = new FakeServer(options);
  const machine = new FakeMachine({ [name]: server.handle });
  await portico.api('PATCH', `${SERVERS}/${id}`, TRUSTED);
  expect(await machine.dial(portico, enrolled.token)).toBe(101);
  await whenServer(portico, id, ({ status }) => status === 'CONNECTED');
  return { ...enrolled, connectorId: enrolled.id, id, server, machine };
}

/** Calls a tool as a modern client. */
export async function call(
  portico: Portico,
  name: string,
  args: object = {},
  sent: { signal?: AbortSignal } = {},
) {
  const { message, headers } = modern('tools/call', { name, arguments: args });
  return portico.post(message, { headers, ...sent });
}

/** The first text of a result, or the error. */
export const textOf = async (response: Response) => {
  const { result, error } = await response.json<RpcAnswer>();
  return result?.content?.[0]?.text ?? error?.message;
};
