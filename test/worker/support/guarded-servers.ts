/** Servers with accounts that refuse unknown callers. */
import { FakeServer, toolOf } from './fake-server.ts';
import { fakeUpstreams } from './fake-upstreams.ts';
import { register, whenServer, type Portico } from './portico.ts';

const guarded: Record<string, (request: Request) => Response | Promise<Response>> = {};

/**
 * Registers one, with the tool `create_issue`, that accepts only the token `good`. @returns the server and its id, after it refused a first
 * request
 */
export async function registerGuarded(
  portico: Portico,
  name: string,
  more: object,
): Promise<[FakeServer, string]> {
  const made = new FakeServer({ sessionful: false, tools: [toolOf('create_issue')] });
  guarded[`https://${name}.example.com`] = request =>
    request.headers.get('authorization') === 'Bearer good'
      ? made.handle(request)
      : new Response('who?', { status: 401 });
  fakeUpstreams(guarded);
  const { id } = await register(portico, name, more);
  await whenServer(portico, id, ({ status }) => status === 'DEGRADED');
  return [made, id];
}
