import type { Approval } from '@pitboss/contracts/objects/approval'

const texts: Readonly<Record<Approval['act'], (id: string) => string>> = {
  'credential.delete': (id) => `Delete the LIVE key ${id}`,
  'game.change': (id) => `Switch the game ${id} off`,
  'wallet.put': () => 'Change the address of the LIVE wallet',
  'business.change': () => 'Do grave acts without a second person again',
}

/** What is to be done, in words. */
export function approvalText({ act, object }: Pick<Approval, 'act' | 'object'>): string {
  return texts[act](object.id)
}

/** How it stands, in words. */
export const approvalStatusTexts: Readonly<Record<Approval['status'], string>> = {
  PENDING: 'Nothing was done yet. It waits for another OWNER or ADMIN than the one who asked.',
  APPROVED: 'It is approved and being done; the service that does it is asked again every 5 seconds.',
  DONE: 'It is approved and was done.',
  REJECTED: 'Nothing was done: it was rejected.',
  EXPIRED: 'Nothing was done: nobody approved it within 24 hours. Ask again if it is still wanted.',
  STALE: 'Nothing was done: what it was asked for has changed since. Ask again if it is still wanted.',
  REFUSED: 'It is approved, and was refused when it was to be done.',
}
