/** Examples of imports and exports in the OpenAPI document. Data only. */

export const exampleFile = {
  mcpServers: {
    github: { type: 'http', url: 'https://mcp.example.com/mcp' },
    files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] },
  },
};

export const exampleImport = {
  dry_run: false,
  entries: [
    {
      given_name: 'github',
      name: 'github',
      path: 'mcpServers.github',
      action: 'create',
      server_id: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10',
      reasons: [],
      problems: [],
      secrets: [],
    },
    {
      given_name: 'files',
      name: 'files',
      path: 'mcpServers.files',
      action: 'unsupported',
      reasons: ['it is a program, which needs a connector on its machine'],
      problems: [],
      secrets: [],
    },
  ],
};

export const exampleExport = {
  format: 'client',
  client: 'cursor',
  title: 'Cursor (.cursor/mcp.json)',
  text: '{ "mcpServers": { "portico": { "url": "https://portico.example.com/mcp?names=underscore" } } }',
};
