import { definePreScript } from '@opentabs/sdk/pre-script';

definePreScript(({ set }) => {
  set('early', `pre-script 1 at ${document.readyState}`);
});
