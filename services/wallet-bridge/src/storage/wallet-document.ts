import type { AuditEntry } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import type { FlagRules } from '@pitboss/contracts/objects/flag'
import { auditedInsert, auditedUpdate, type WithAudit } from '@pitboss/storage/audit-outbox'
import { changeFenced, fencedUpdate, type Versioned } from '@pitboss/storage/change-fenced'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { SharedCopies } from '@pitboss/storage/shared-copies'
import type { SecretBox } from '@pitboss/storage/stored-secrets'
import type { Db } from 'mongodb'
import { createHash } from 'node:crypto'
import { flagRulesOf } from '../rules/flags.ts'
import { walletKeyOf } from '../rules/movement-keys.ts'

/** A stored wallet. `_id` is the wallet key; the secret is encrypted for that key alone. */
export type WalletDocument = Versioned &
  WithAudit & {
    readonly operatorId: string
    readonly environment: Scope['environment']
    readonly url: string
    readonly timeoutMs: number
    readonly settleLosses: 'none' | 'zero_credit'
    /** Origins of earlier addresses whose ledger the present one serves. */
    readonly formerOrigins?: readonly string[]
    /** When movements of this wallet raise flags; absent until the account chooses. */
    readonly flagRules?: FlagRules
    /** The approval by which it was changed the last time that one was needed. */
    readonly approvalId?: string
    readonly sealedSecret: string
    /**
     * The secret before, which signs beside the present one until then; null after a rotation without
     * overlap.
     */
    readonly formerSecret?: { readonly sealed: string; readonly validUntil: Date } | null
    readonly createdAt: Date
    readonly updatedAt: Date
  }

/** A wallet with its secret opened. */
export type Wallet = {
  readonly key: string
  readonly environment: Scope['environment']
  readonly url: string
  readonly timeoutMs: number
  readonly settleLosses: 'none' | 'zero_credit'
  readonly formerOrigins: readonly string[]
  /** From which amounts on a win is flagged. */
  readonly bigWins: FlagRules['big_win']
  readonly secret: string
  /** Signs beside `secret` until then. */
  readonly formerSecret?: { readonly secret: string; readonly validUntil: Date }
}

export type WalletSettings = Pick<WalletDocument, 'url' | 'timeoutMs' | 'settleLosses' | 'formerOrigins'>

/** Makes the audit entry of a write, which takes it along. */
type EntryOfChange = (before: WalletDocument | null, after: WalletDocument) => AuditEntry

/** Each write resolves once no process uses what was there before. */
export type Wallets = {
  find(scope: Scope): Promise<WalletDocument | null>
  /** Finds the wallet in memory, as every call that moves money does (`shareCopies`). */
  copy(scope: Scope): Promise<WalletDocument | null>
  /** As `copy`, with the secret opened; in memory it stays sealed. */
  open(scope: Scope): Promise<Wallet | null>
  openDocument(document: WalletDocument): Wallet
  /** Changes the settings of this version and keeps the secret; null when the wallet has another by now. */
  change(
    scope: Scope,
    settings: WalletSettings,
    version: number,
    now: Date,
    entryOf: EntryOfChange,
  ): Promise<WalletDocument | null>
  /** As `change`, once for an approval, and only while the wallet has the version that was seen. */
  changeSeen(
    scope: Scope,
    settings: WalletSettings,
    seen: { readonly version: number; readonly approvalId: string },
    now: Date,
    entryOf: EntryOfChange,
  ): Promise<'done' | 'stale'>
  /** Null when there is a wallet already. */
  create(
    scope: Scope,
    settings: WalletSettings,
    secret: string,
    now: Date,
    entryOf: EntryOfChange,
  ): Promise<WalletDocument | null>
  replaceSecret(
    scope: Scope,
    rotation: { readonly secret: string; readonly overlapS: number },
    now: Date,
    entryOf: EntryOfChange,
  ): Promise<WalletDocument | null>
  /** Replaces when flags are raised; null when there is no wallet. */
  setFlagRules(scope: Scope, flagRules: FlagRules, entryOf: EntryOfChange): Promise<WalletDocument | null>
  /** Wallet keys in order, at most 500 after `after`. */
  keysAfter(after: string): Promise<string[]>
}

const fencedTriesMax = 10
const keysPageSize = 500

/** The collection `wallets`. Secrets are sealed under the wallet's key. */
export function createWallets(db: Db, secretBox: SecretBox, { of }: Pick<SharedCopies, 'of'>): Wallets {
  const collection = db.collection<WalletDocument>('wallets')
  const findByKey = (key: string) => collection.findOne({ _id: key })
  const find = (scope: Scope) => findByKey(walletKeyOf(scope))
  // A copy that is sealed under a former master key opens as well.
  const copies = of('wallets', findByKey)
  const copy = (scope: Scope) => copies.read(walletKeyOf(scope))
  const aadOf = (key: string) => `wallet-secret/${key}`

  const openDocument = (document: WalletDocument): Wallet => ({
    key: document._id,
    environment: document.environment,
    url: document.url,
    timeoutMs: document.timeoutMs,
    settleLosses: document.settleLosses,
    formerOrigins: document.formerOrigins ?? [],
    bigWins: flagRulesOf(document).big_win,
    secret: secretBox.open(document.sealedSecret, aadOf(document._id)),
    ...formerSecretOf(document),
  })

  function formerSecretOf({ _id, formerSecret }: WalletDocument): Pick<Wallet, 'formerSecret'> {
    if (formerSecret === undefined || formerSecret === null) return {}
    const { sealed, validUntil } = formerSecret
    return { formerSecret: { secret: secretBox.open(sealed, aadOf(_id)), validUntil } }
  }

  /** Changes the wallet of this version; null when it has another by now. */
  async function write(document: WalletDocument, change: Partial<WalletDocument>, entryOf: EntryOfChange) {
    const entry = entryOf(document, { ...document, ...change })
    const update = auditedUpdate<WalletDocument>({ $set: change }, entry)
    const written = await fencedUpdate(collection, { _id: document._id }, document.version, update)
    if (written !== null) await copies.drop(document._id)
    return written
  }

  async function update(
    scope: Scope,
    changeOf: (document: WalletDocument) => Partial<WalletDocument>,
    entryOf: EntryOfChange,
  ): Promise<WalletDocument | null> {
    const document = await find(scope)
    if (document === null) return null
    return changeFenced({
      document,
      change: (current) => write(current, changeOf(current), entryOf),
      async reread({ _id }) {
        const present = await find(scope)
        if (present === null) throw new Error(`the wallet ${_id} is gone`)
        return present
      },
      triesMax: fencedTriesMax,
      name: 'the wallet',
    })
  }

  return {
    find,
    copy,
    openDocument,
    async open(scope) {
      const document = await copy(scope)
      return document === null ? null : openDocument(document)
    },
    async change(scope, settings, version, now, entryOf) {
      const document = await find(scope)
      if (document?.version !== version) return null
      return write(document, { ...settings, updatedAt: now }, entryOf)
    },
    async changeSeen(scope, settings, { version, approvalId }, now, entryOf) {
      const document = await find(scope)
      const isFirst = document?.approvalId !== approvalId && document?.version === version
      const change = { ...settings, updatedAt: now, approvalId }
      if (isFirst && (await write(document, change, entryOf)) !== null) return 'done'
      if ((await find(scope))?.approvalId !== approvalId) return 'stale'
      // Who wrote it may have died before its note.
      await copies.drop(walletKeyOf(scope))
      return 'done'
    },
    async create(scope, settings, secret, now, entryOf) {
      const key = walletKeyOf(scope)
      const document: WalletDocument = {
        _id: key,
        version: 1,
        operatorId: scope.operatorId,
        environment: scope.environment,
        ...settings,
        sealedSecret: secretBox.seal(secret, aadOf(key)),
        createdAt: now,
        updatedAt: now,
      }
      const audited = { ...document, ...auditedInsert(entryOf(null, document)) }
      if (!(await insertedFirst(() => collection.insertOne(audited)))) return null
      await copies.drop(key)
      return document
    },
    replaceSecret(scope, { secret, overlapS }, now, entryOf) {
      const sealedSecret = secretBox.seal(secret, aadOf(walletKeyOf(scope)))
      const validUntil = new Date(now.getTime() + overlapS * 1000)
      const formerOf = ({ sealedSecret: sealed }: WalletDocument) =>
        overlapS === 0 ? null : { sealed, validUntil }
      return update(
        scope,
        (document) => ({ sealedSecret, formerSecret: formerOf(document), updatedAt: now }),
        entryOf,
      )
    },
    setFlagRules: (scope, flagRules, entryOf) => update(scope, () => ({ flagRules }), entryOf),
    async keysAfter(after) {
      const found = await collection
        .find({ _id: { $gt: after } })
        .project<{ _id: string }>({ _id: 1 })
        .sort({ _id: 1 })
        .limit(keysPageSize)
        .toArray()
      return found.map(({ _id }) => _id)
    },
  }
}

/** Time to keep a used signature; it is fresh for 300 s before and after its own time. */
const keepS = 1200

export const callbackIndexes: Readonly<Record<'callback_signatures', readonly IndexDeclaration[]>> = {
  callback_signatures: [{ key: { usedAt: 1 }, name: 'used_at', expireAfterSeconds: keepS }],
}

/** The used signatures of callbacks, the same for all replicas and over restarts. */
export type CallbackSignatures = {
  /** Marks a signature as used. @returns false when it was used before */
  use(walletKey: string, timestamp: string, signature: string, now: Date): Promise<boolean>
}

export function createCallbackSignatures(db: Db): CallbackSignatures {
  const collection = db.collection<{ _id: string; usedAt: Date }>('callback_signatures')
  return {
    async use(walletKey, timestamp, signature, now) {
      const _id = createHash('sha256').update(`${walletKey}\n${timestamp}\n${signature}`).digest('base64url')
      return insertedFirst(() => collection.insertOne({ _id, usedAt: now }))
    },
  }
}
