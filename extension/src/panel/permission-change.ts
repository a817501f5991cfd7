import { useState } from 'preact/hooks';

/** PermissionChange is a request to Chrome to grant or revoke a permission of the extension. */
export interface PermissionChange {
  /** error is the reason why the last request failed, or empty if the request succeeded. */
  readonly error: string;
  /**
   * change sends the request to Chrome, and resolves with the error of the request. Chrome requires a click of the
   * user before change.
   */
  change(): Promise<{ error?: string }>;
}

/**
 * usePermissionChange returns a PermissionChange for a Chrome permission. send resolves with true if Chrome granted
 * or revoked the permission.
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
