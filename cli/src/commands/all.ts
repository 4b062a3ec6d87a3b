/** Every command, in the order of the help. */
import type { Command } from 'commander';
import { addAccounts } from './accounts.ts';
import { addApply } from './apply.ts';
import { addApprovals } from './approvals.ts';
import { addAudit } from './audit.ts';
import { addBackup } from './backup.ts';
import { addConnect } from './connect.ts';
import { addAsk } from './ask.ts';
import { addCall } from './call.ts';
import { addChat } from './chat.ts';
import { addClient } from './client.ts';
import { addCompletion } from './completion.ts';
import { addDoctor } from './doctor.ts';
import { addExplain } from './explain.ts';
import { addIdentities } from './identities.ts';
import { addImport } from './import.ts';
import { addInvite } from './invite.ts';
import { addKeys } from './keys.ts';
import { addLearning } from './learning.ts';
import { addLogin } from './login.ts';
import { addLogs } from './logs.ts';
import { addOAuthClients } from './oauth-clients.ts';
import { addResources } from './resources.ts';
import { addSearch } from './search.ts';
import { addServers } from './servers.ts';
import { addStdio } from './stdio.ts';
import { addToken } from './token.ts';
import { addTools } from './tools.ts';
import { addTrace } from './trace.ts';
import { addUp } from './up.ts';
import { addUsage } from './usage.ts';
import { addWebhooks } from './webhooks.ts';

/** Adds a command, or several similar ones, to the program. */
export type AddCommand = (program: Command) => void;

export const COMMANDS: readonly AddCommand[] = [
  addUp,
  addConnect,
  addStdio,
  addServers,
  addTools,
  addExplain,
  addApprovals,
  addSearch,
  addAsk,
  addCall,
  addChat,
  addLogs,
  addTrace,
  addAudit,
  addUsage,
  addLogin,
  addAccounts,
  addToken,
  addInvite,
  addClient,
  addResources,
  addIdentities,
  addOAuthClients,
  addWebhooks,
  addLearning,
  addKeys,
  addImport,
  addBackup,
  addApply,
  addDoctor,
  addCompletion,
];
