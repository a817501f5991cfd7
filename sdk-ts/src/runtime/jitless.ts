import { config } from 'zod';

// Disables zod's fast validators before the plugin's modules run. Fast validators use `new Function`, which many pages
// forbid and report as violations of their content security policy.
config({ jitless: true });
