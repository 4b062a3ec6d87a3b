/** Examples of server records in the OpenAPI document. Data only. */

const created = {
  name: 'github',
  description: 'Repositories',
  transport_type: 'HTTP',
  connection_config: { url: 'https://mcp.example.com/mcp' },
  auto_connect: true,
  health_check_url: 'https://mcp.example.com/health',
};

const record = {
  ...created,
  id: '0b9f2c1e-6f0a-4a57-9b1c-2f7d9f1f4a10',
  status: 'CONNECTED',
  health_check: {},
  tool_approval: null,
  tool_count: 14,
  held_tools: 0,
  last_error: null,
  era: 'modern',
  protocol_version: '2026-07-28',
  registered_at: '2026-11-02T09:00:00.000Z',
  updated_at: '2026-11-02T09:00:01.000Z',
  revision: 1,
  health: {
    state: 'healthy',
    checked_at: '2026-11-02T09:00:30.000Z',
    response_time_ms: 12.5,
    error_rate: 0,
    consecutive_failures: 0,
    reason: null,
    last_good_at: '2026-11-02T09:00:30.000Z',
    circuit: 'closed',
  },
};

/** The body that registers a server, and the record it becomes. */
export const exampleServer = { created, record };
