import * as approvals from '@pitboss/contracts/endpoints/approvals'
import * as auth from '@pitboss/contracts/endpoints/auth'
import * as people from '@pitboss/contracts/endpoints/people'
import * as wallet from '@pitboss/contracts/endpoints/wallet'
import { forwarded, type RouteEntry } from './route-entry.ts'

const byId = { byId: true } as const

/** Wallets, key pairs, people, account and its logs. Source: docs/contract.md, sections 3, 11 and 12. */
export const accountRoutes: readonly RouteEntry[] = [
  forwarded(wallet.getWallet, 'The wallet of an environment'),
  forwarded(wallet.putWallet, 'Configure the wallet; the secret is shown once, on creation', {
    statuses: [200, 201],
    errors: ['APPROVAL_NEEDED', 'CONFLICT'],
  }),
  forwarded(
    wallet.rotateWalletSecret,
    'New signing secret; the former one signs beside it as long as you say',
  ),
  forwarded(wallet.getWalletSeries, 'Calls to a wallet over time'),
  forwarded(wallet.checkWallet, 'Call the wallet and say what is wrong with it'),
  forwarded(wallet.certifyWallet, 'Run every case of the wallet contract against the TEST wallet, as a job', {
    statuses: [202],
    errors: ['CONFLICT'],
  }),
  forwarded(wallet.listWalletCertifications, 'Certifications of the TEST wallet, newest first'),
  forwarded(wallet.getWalletCertification, 'One certification: its progress, then its report'),
  forwarded(wallet.cancelWalletCertification, 'End a certification that runs'),

  forwarded(auth.listCredentials, 'Key pairs'),
  forwarded(auth.createCredential, 'Create a key pair; the secret is shown once', {
    example: {
      name: 'Lobby server',
      environment: 'TEST',
      scopes: ['sessions:write', 'events:read'],
      ip_allowlist: [],
    },
    statuses: [201],
    errors: ['FORBIDDEN', 'CONFLICT'],
    idempotent: true,
  }),
  forwarded(auth.getCredential, 'One key pair', byId),
  forwarded(auth.patchCredential, 'Change name, scopes or allowlist', {
    ...byId,
    errors: ['FORBIDDEN', 'CONFLICT'],
  }),
  forwarded(auth.rotateCredential, 'New secret; the old one stops at once', {
    ...byId,
    errors: ['CONFLICT'],
  }),
  forwarded(auth.revokeCredential, 'End the key pair and its tokens', byId),
  forwarded(auth.deleteCredential, 'Remove the key pair and its record', {
    ...byId,
    statuses: [204],
    errors: ['APPROVAL_NEEDED'],
  }),

  forwarded(approvals.listApprovals, 'Grave acts that wait, or have waited, for a second person'),
  forwarded(approvals.getApproval, 'One of them', byId),
  forwarded(approvals.approveApproval, 'Approve a grave act of another person, and do it', {
    ...byId,
    errors: ['CONFLICT'],
  }),
  forwarded(approvals.rejectApproval, "Reject a grave act, or take one's own back", {
    ...byId,
    errors: ['CONFLICT'],
  }),

  forwarded(people.getMe, 'Who is signed in', { mayLack: ['password', 'totp'] }),
  forwarded(people.changePassword, "Change one's own password", {
    mayLack: ['password', 'totp'],
    errors: ['INVALID_CREDENTIALS'],
  }),
  forwarded(people.enrolTotp, 'Start to use a second factor', {
    mayLack: ['totp'],
    errors: ['INVALID_CREDENTIALS', 'CONFLICT'],
  }),
  forwarded(people.confirmTotp, 'Confirm the second factor with a code', {
    mayLack: ['totp'],
    errors: ['INVALID_CREDENTIALS', 'CONFLICT'],
  }),
  forwarded(people.removeTotp, 'Stop using the second factor', {
    mayLack: ['totp'],
    statuses: [204],
    errors: ['INVALID_CREDENTIALS'],
  }),
  forwarded(people.listOwnSessions, 'Where one is signed in, newest first'),
  forwarded(people.endOwnSession, 'Sign out of one of them', { statuses: [204] }),
  forwarded(people.listUsers, 'People of the account'),
  forwarded(people.inviteUser, 'Add a person, by password or by invitation', {
    statuses: [201],
    errors: ['CONFLICT'],
    idempotent: true,
  }),
  forwarded(people.patchUser, "Change a person's role", { errors: ['CONFLICT'] }),
  forwarded(people.removeUser, 'Remove a person', { statuses: [204], errors: ['CONFLICT'] }),

  forwarded(auth.getBusiness, 'Settings of the account'),
  forwarded(auth.patchBusiness, 'Change name, currencies, time zone or what people need', {
    errors: ['CONFLICT', 'APPROVAL_NEEDED'],
  }),
  forwarded(auth.dashboardGetBusiness, 'Settings of the account'),
  forwarded(auth.dashboardPatchBusiness, 'Change name, currencies, time zone or what people need', {
    errors: ['CONFLICT', 'APPROVAL_NEEDED'],
  }),
  forwarded(auth.listBrands, 'Brands'),
  forwarded(auth.createBrand, 'Create a brand', { statuses: [201], errors: ['CONFLICT'], idempotent: true }),
  forwarded(auth.deleteBrand, 'Remove a brand', { notFound: 'BRAND_NOT_FOUND', statuses: [204] }),
  forwarded(auth.listViews, 'Saved views of lists'),
  forwarded(auth.createView, 'Save a view', {
    example: { name: 'Refused today', page: '/rounds', query: 'status=FAILED&range=24h' },
    statuses: [201],
    errors: ['CONFLICT'],
    idempotent: true,
  }),
  forwarded(auth.deleteView, 'Remove a view', { statuses: [204] }),
  forwarded(auth.listRequestLogs, 'Requests of the last 30 days, newest first'),
  forwarded(auth.listMistakes, 'Refused requests of the last 7 days by what was wrong, with the remedy'),
  forwarded(auth.listAudit, 'Who changed what, newest first'),
]
