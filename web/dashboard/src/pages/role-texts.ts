import type { Role } from '@pitboss/contracts/caller'

/** What each role may, in plain words. Source: docs/contract.md, section 2. */
export const roleTexts: Readonly<Record<Role, string>> = {
  OWNER: 'Everything, people included',
  ADMIN: 'Everything but changing people',
  DEVELOPER: 'Scoped TEST keys, endpoints, wallets, requests; retries deliveries; reads plays',
  SUPPORT: 'Reads plays, events and deliveries; retries deliveries, closes sessions',
  VIEWER: 'Reads plays, events, deliveries and reports',
}
