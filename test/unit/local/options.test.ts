/** The command line of `npm start`: defaults, paths, and one line for every mistake. */
import { expect, it } from 'vitest';
import { parseOptions } from '../../../local/options.ts';

const parse = (...args: string[]) => parseOptions(args, '/here', '/project/.portico');

it('[OPS-3] has a default for every option', () => {
  expect(parse()).toEqual({
    port: 8787,
    dataDir: '/project/.portico',
    configFile: undefined,
    demo: true,
    team: undefined,
  });
});

it("[OPS-3] reads paths relative to the user's working directory", () => {
  expect(parse('--port', '9000', '--data=d', '--config', '../mcp.json', '--no-demo')).toEqual({
    port: 9000,
    dataDir: '/here/d',
    configFile: '/mcp.json',
    demo: false,
    team: undefined,
  });
});

it.each([
  [['--prot', '1'], "Unknown option '--prot'"],
  [['start'], 'Unknown argument: start'],
  [['--port', '0'], '--port must be a number from 1 to 65535, not "0".'],
  [['--port', '65536'], '--port must be'],
  [['--port', '80a'], '--port must be'],
  [['--port', ''], '--port must be'],
  [['--port'], "Option '--port <value>' argument missing"],
  [['--data', ''], '--data needs a path.'],
  [['--no-demo=1'], "Option '--no-demo' does not take an argument"],
])('[OPS-3] refuses %j in one line, exit code 2', (args, line) => {
  const refusal: unknown = (() => {
    try {
      return parse(...args);
    } catch (error) {
      return error;
    }
  })();
  expect(refusal).toMatchObject({ exitCode: 2, message: expect.stringMatching(/^.+$/) });
  expect(String(refusal)).toContain(line);
});
