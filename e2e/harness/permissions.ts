/** Grants the extension's optional permissions without a click in Chrome's dialog. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** grantOptionalPermissions makes all optional permissions in the manifest of an unpacked extension required. */
export function grantOptionalPermissions(folder: string): void {
  const file = join(folder, 'manifest.json');
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const { permissions, optional_permissions: optionalPermissions, ...otherFields } = Object(manifest);
  writeFileSync(file, JSON.stringify({ ...otherFields, permissions: [...permissions, ...optionalPermissions] }));
}
