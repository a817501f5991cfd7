import { config } from 'zod';

// Zod makes fast validators with `new Function`. Many pages forbid that and report each try, so it is switched off
// before the plugin's own modules run.
config({ jitless: true });
