import type { ActedBy } from '@pitboss/contracts/audit'

/** The author of a change by a person who has no token: a sign-in, a sign-out, an accepted invitation. */
export function actedByPerson(
  { _id, operatorId, email }: { readonly _id: string; readonly operatorId: string; readonly email: string },
  clientAddress: string | null,
  requestId: string,
): ActedBy {
  return {
    operator_id: operatorId,
    actor: { kind: 'user', id: _id, name: email },
    client_address: clientAddress,
    request_id: requestId,
    reason: null,
  }
}
