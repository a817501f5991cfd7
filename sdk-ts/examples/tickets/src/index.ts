import { definePlugin, getMetaContent, log, notifyReadinessChanged, observeDOM } from '@opentabs/sdk';
import { settings } from './settings.ts';
import { createTicket } from './tools/create-ticket.ts';
import { listTickets } from './tools/list-tickets.ts';
import { readOpenTicket } from './tools/read-open-ticket.ts';

let stopWatching: (() => void) | undefined;

export default definePlugin({
  configSchema: settings,
  tools: [listTickets, createTicket, readOpenTicket],

  // When the user has logged in, the site adds a meta element with the user's name.
  isReady() {
    return getMetaContent('user') !== null;
  },

  onActivate() {
    stopWatching = observeDOM('head', () => notifyReadinessChanged());
    log.debug('watching for the login');
  },

  teardown() {
    stopWatching?.();
  },
});
