import { config } from 'zod';

// Zod's fast validators use `new Function`, which the content security policy of many pages forbids and reports.
config({ jitless: true });
