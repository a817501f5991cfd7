import { defineTool, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

export const whoAmI = defineTool({
  name: 'who_am_i',
  displayName: 'Who am I',
  description:
    'Returns the name of the user who is logged in. If no user is logged in, asks the user to log in and waits.',
  icon: 'circle-user',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({ name: z.string() }),

  async handle(_params, context) {
    // The chat site stores the name of the logged-in user in a data attribute. A login to the chat site does not reload
    // the page.
    const readUserName = () => document.documentElement.dataset.user;
    if (!readUserName()) await context?.waitForUser({ title: 'Log in', reason: 'Log in to the chat in this tab.' });
    const userName = readUserName();
    if (!userName) throw ToolError.auth('no user is logged in to the chat; ask the user to log in, then try again');
    return { name: userName };
  },
});
