import type { Approval } from '@pitboss/contracts/objects/approval'

const texts: Readonly<Record<Approval['act'], (id: string) => string>> = {
  'credential.create': (id) => `Make the unscoped LIVE key “${id}”`,
  'credential.change': (id) => `Widen the LIVE key ${id}`,
  'credential.delete': (id) => `Delete the LIVE key ${id}`,
  'game.change': (id) => `Switch the game ${id} off`,
  'wallet.put': () => 'Change the address of the LIVE wallet',
  'wallet.rotate-secret': () => 'Replace the secret of the LIVE wallet',
  'endpoint.create': (id) => `Send LIVE events to ${id}`,
  'endpoint.change': (id) => `Change the address of the LIVE endpoint ${id}`,
  'user.create': (id) => `Add ${id} as an OWNER or ADMIN`,
  'user.change': (id) => `Make ${id} an OWNER or ADMIN`,
  'business.change': () => 'Do without a second person or a second factor again',
}

/** What is to be done, in words. */
export function approvalText({ act, object }: Pick<Approval, 'act' | 'object'>): string {
  return texts[act](object.id)
}

/** How it stands, in words. */
export const approvalStatusTexts: Readonly<Record<Approval['status'], string>> = {
  PENDING: 'Nothing was done yet. It waits for another OWNER or ADMIN than the one who asked.',
  APPROVED:
    'It is approved. Where its answer holds a secret or a link, who asked sends it again within 24 hours; anything else is being done.',
  DONE: 'It is approved and was done.',
  REJECTED: 'Nothing was done: it was rejected.',
  EXPIRED: 'Nothing was done: nobody approved or used it within 24 hours. Ask again if it is still wanted.',
  STALE: 'Nothing was done: what it was asked for has changed since. Ask again if it is still wanted.',
  REFUSED: 'It is approved, and was refused when it was to be done.',
}
