import { defineTool, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

export const whoAmI = defineTool({
  name: 'who_am_i',
  displayName: 'Who am I',
  description: 'Returns the name of the person who is logged in. If nobody is, it asks the person to log in and waits.',
  icon: 'circle-user',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({ name: z.string() }),

  async handle(_params, context) {
    // The site writes the name on its page, also after a log-in in its dialog.
    const name = () => document.documentElement.dataset.user;
    if (!name()) await context?.waitForUser({ title: 'Log in', reason: 'Log in to the chat in this tab.' });
    const found = name();
    if (!found) throw ToolError.auth('nobody is logged in to the chat; ask the person to log in, then try again');
    return { name: found };
  },
});
