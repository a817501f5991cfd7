import { definePrompt } from '@opentabs/sdk';
import { z } from 'zod';
import { channelId, readPages } from '../channel.ts';

export const summariseChannel = definePrompt({
  name: 'summarise_channel',
  displayName: 'Summarise a channel',
  description: 'Reads a channel and asks for a summary of its last messages.',
  args: z.object({
    channelId,
    last: z.number().int().min(1).max(500).default(50).describe('How many messages to summarise; 50 by default'),
  }),

  async render({ channelId, last }, context) {
    const messageLines: string[] = [];
    let pageCount = 0;
    for await (const page of readPages(channelId, context?.signal)) {
      messageLines.push(...page.messages.map(({ author = 'unknown', text }) => `${author}: ${text}`));
      context?.reportProgress({
        progress: ++pageCount,
        total: page.totalPages,
        message: `${messageLines.length} messages read`,
        audience: 'user',
      });
    }
    return `Summarise these messages of the channel ${channelId}:\n\n${messageLines.slice(-last).join('\n')}`;
  },
});
