/** Reads the audit, whose lines the daemon writes shortly after the end of a call. */
import { z } from 'zod';
import type { Stack } from './stack.ts';
import { waitFor } from './wait.ts';

const CallList = z.array(z.object({ call_id: z.string() }));

/** readCompleteAudit returns the audit as JSON text, once it has a line for the newest call. */
export async function readCompleteAudit(stack: Pick<Stack, 'runCli'>): Promise<string> {
  const [newestCall] = CallList.parse(JSON.parse((await stack.runCli('calls', '--json')).stdout));
  if (!newestCall) throw new Error('the daemon has run no call');
  return waitFor(`the audit line of the call ${newestCall.call_id}`, async () => {
    const auditText = (await stack.runCli('audit', '--json')).stdout;
    return auditText.includes(newestCall.call_id) && auditText;
  });
}
