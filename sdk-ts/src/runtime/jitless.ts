import { config } from 'zod';

// Disables zod's fast validators before the plugin's modules run. Zod's fast validators use `new Function`, which the
// content security policy of many pages forbids and reports as a violation.
config({ jitless: true });
