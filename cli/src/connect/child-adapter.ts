/** Runs a stdio server of the configuration as a child process, and reports its state for people. */
import type { CreateAdapter } from './server-adapter.ts';
import { StdioServer } from './stdio-http.ts';

/** Starts the server of an entry. */
export const createChildAdapter: CreateAdapter = (config, onChange, starts, onEvent) => {
  const { command, args, env, cwd, secrets, hidden, tools, capabilities, era } = config;
  const spec = { command, args, env, secrets, hidden, ...(cwd === undefined ? {} : { cwd }) };
  const server = new StdioServer({
    spec,
    tools,
    starts,
    onEvent,
    ...(capabilities ? { capabilities } : {}),
    ...(era ? { era } : {}),
  });
  const { child } = server;
  child.subscribe(({ state, reason }) => {
    const isWell = reason === undefined || state === 'ready' || state === 'stopped';
    onChange(state, isWell ? undefined : child.trouble.replace(/^The server /, ''));
  });
  return {
    handle: request => server.handle(request),
    stop: () => server.stop(),
    kill: () => server.kill(),
  };
};
