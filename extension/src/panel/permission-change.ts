import { useState } from 'preact/hooks';

/** PermissionChange asks Chrome to grant or revoke a permission of the extension. */
export interface PermissionChange {
  /** error is the reason why the last request failed, or empty if the request succeeded. */
  readonly error: string;
  /**
   * change requests the change of the permission from Chrome, and resolves with an error if Chrome refuses the request.
   * Chrome allows requests for permissions only in response to a user's click.
   */
  change(): Promise<{ error?: string }>;
}

/**
 * usePermissionChange returns a PermissionChange for one Chrome permission. send makes the request, and resolves with
 * whether Chrome changed the permission.
 */
export function usePermissionChange(send: () => Promise<boolean>, verb: 'grant' | 'revoke'): PermissionChange {
  const [error, setError] = useState('');
  const change = async () => {
    setError('');
    const problem = await send().then(
      (isChanged) => (isChanged ? undefined : `Chrome did not ${verb} the permission.`),
      (reason: unknown) => (reason instanceof Error ? reason.message : String(reason)),
    );
    if (problem === undefined) return {};
    setError(problem);
    return { error: problem };
  };
  return { error, change };
}
