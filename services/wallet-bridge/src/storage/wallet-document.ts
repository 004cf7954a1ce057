import type { AuditEntry } from '@pitboss/contracts/audit'
import { type Scope, scopeKey, scopeOf } from '@pitboss/contracts/caller'
import type { FlagRules } from '@pitboss/contracts/objects/flag'
import { auditedInsert, auditedUpdate, type WithAudit } from '@pitboss/storage/audit-outbox'
import { changeFenced, fencedUpdate, type Versioned } from '@pitboss/storage/change-fenced'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { sealedFields, type SealedPlace } from '@pitboss/storage/rewrite-seals'
import type { SharedCopies } from '@pitboss/storage/shared-copies'
import type { SecretBox } from '@pitboss/storage/stored-secrets'
import type { Db } from 'mongodb'
import { createHash } from 'node:crypto'
import { flagRulesOf } from '../rules/flags.ts'
import type { Secrets } from '../rules/wallet.ts'

/** A stored wallet. `_id` is the wallet key; the secret is encrypted for that key only. */
export type WalletDocument = Versioned &
  WithAudit &
  Scope & {
    readonly url: string
    readonly timeoutMs: number
    readonly settleLosses: 'none' | 'zero_credit'
    readonly formerOrigins?: readonly string[]
    /** When movements of this wallet raise flags; absent until the account chooses. */
    readonly flagRules?: FlagRules
    /** The approval by which it was changed the last time that one was needed. */
    readonly approvalId?: string
    readonly sealedSecret: string
    /** It signs beside the present one until then; null after a rotation without overlap. */
    readonly formerSecret?: { readonly sealed: string; readonly validUntil: Date } | null
    readonly createdAt: Date
    readonly updatedAt: Date
  }

/** A wallet with its secret opened. */
export type Wallet = Pick<WalletDocument, 'environment' | 'url' | 'timeoutMs' | 'settleLosses'> &
  Secrets & {
    readonly key: string
    readonly formerOrigins: readonly string[]
    /** From which amounts on a win is flagged. */
    readonly bigWins: FlagRules['big_win']
  }

export type WalletSettings = Pick<WalletDocument, 'url' | 'timeoutMs' | 'settleLosses' | 'formerOrigins'>

type NewSecret = { readonly secret: string; readonly at: Date }
type NewWallet = WalletSettings & NewSecret
type Rotation = NewSecret & { readonly overlapS: number }
type FieldsOfChange = (document: WalletDocument) => Partial<WalletDocument>
type EntryOfChange = (before: WalletDocument | null, after: WalletDocument) => AuditEntry

const aadOf = (walletKey: string) => `wallet-secret/${walletKey}`
const fencedTriesMax = 10
const keysPageSize = 500

export type Wallets = ReturnType<typeof createWallets>

/** Secrets are sealed under the wallet's key. Writes resolve once no process uses what was there before. */
export function createWallets(db: Db, secretBox: SecretBox, { of }: Pick<SharedCopies, 'of'>) {
  const collection = db.collection<WalletDocument>('wallets')
  const findByKey = (key: string) => collection.findOne({ _id: key })
  const find = (scope: Scope): Promise<WalletDocument | null> => findByKey(scopeKey(scope))
  // A copy that is sealed under a former master key opens as well.
  const copies = of('wallets', findByKey)
  const copy = (scope: Scope) => copies.read(scopeKey(scope))
  const opened = new WeakMap<WalletDocument, Wallet>()

  function openDocument(document: WalletDocument): Wallet {
    const { _id: key, environment, url, timeoutMs, settleLosses, formerOrigins = [] } = document
    const open = (sealed: string) => secretBox.open(sealed, aadOf(key))
    const former = document.formerSecret ?? null
    return {
      ...{ key, environment, url, timeoutMs, settleLosses, formerOrigins },
      bigWins: flagRulesOf(document).big_win,
      secret: open(document.sealedSecret),
      ...(former && { formerSecret: { secret: open(former.sealed), validUntil: former.validUntil } }),
    }
  }

  /** Changes the wallet of this version; null when it has another by now. */
  async function change(document: WalletDocument, fields: Partial<WalletDocument>, entryOf: EntryOfChange) {
    const entry = entryOf(document, { ...document, ...fields })
    const update = auditedUpdate<WalletDocument>({ $set: fields }, entry)
    const written = await fencedUpdate(collection, { _id: document._id }, document.version, update)
    if (written !== null) await copies.drop(document._id)
    return written
  }

  async function update(scope: Scope, fieldsOf: FieldsOfChange, entryOf: EntryOfChange) {
    const document = await find(scope)
    if (document === null) return null
    return changeFenced({
      document,
      change: (current) => change(current, fieldsOf(current), entryOf),
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
    /** Finds the wallet in memory, as every call that moves money does (`shareCopies`). */
    copy,
    openDocument,
    /** As `copy`, with the secret opened, once for each copy. */
    async open(scope: Scope): Promise<Wallet | null> {
      const document = await copy(scope)
      if (document === null) return null
      const wallet = opened.get(document) ?? openDocument(document)
      opened.set(document, wallet)
      return wallet
    },
    change,
    /** Drops the copies that processes have of a wallet whose writer may have died before its note. */
    drop: (scope: Scope): Promise<void> => copies.drop(scopeKey(scope)),
    /** Null when there is a wallet already. */
    async create(scope: Scope, wallet: NewWallet, entryOf: EntryOfChange): Promise<WalletDocument | null> {
      const { secret, at, ...settings } = wallet
      const key = scopeKey(scope)
      const document: WalletDocument = {
        ...{ _id: key, version: 1, ...scopeOf(scope), ...settings, createdAt: at, updatedAt: at },
        sealedSecret: secretBox.seal(secret, aadOf(key)),
      }
      const audited = { ...document, ...auditedInsert(entryOf(null, document)) }
      if (!(await insertedFirst(() => collection.insertOne(audited)))) return null
      await copies.drop(key)
      return document
    },
    replaceSecret(scope: Scope, rotation: Rotation, entryOf: EntryOfChange): Promise<WalletDocument | null> {
      const { secret, overlapS, at } = rotation
      const sealedSecret = secretBox.seal(secret, aadOf(scopeKey(scope)))
      const validUntil = new Date(at.getTime() + overlapS * 1000)
      const fieldsOf: FieldsOfChange = ({ sealedSecret: sealed }) => {
        return { sealedSecret, formerSecret: overlapS === 0 ? null : { sealed, validUntil }, updatedAt: at }
      }
      return update(scope, fieldsOf, entryOf)
    },
    /** Replaces when flags are raised; null when there is no wallet. */
    setFlagRules: (scope: Scope, flagRules: FlagRules, entryOf: EntryOfChange) =>
      update(scope, () => ({ flagRules }), entryOf),
    /** Wallet keys in order, at most 500 after `after`. */
    async keysAfter(after: string): Promise<string[]> {
      const page = { projection: { _id: 1 }, sort: { _id: 1 }, limit: keysPageSize } as const
      return (await collection.find({ _id: { $gt: after } }, page).toArray()).map(({ _id }) => _id)
    },
  }
}

export const sealedSecrets: readonly SealedPlace[] = [
  sealedFields({
    ...{ collection: 'wallets', purpose: 'secret-box', paths: ['sealedSecret', 'formerSecret.sealed'] },
    aadOf: ({ _id }) => aadOf(String(_id)),
  }),
]

/** Time to keep a used signature; it is fresh for 300 s before and after its own time. */
const keepS = 1200

export const callbackIndexes: Readonly<Record<'callback_signatures', readonly IndexDeclaration[]>> = {
  callback_signatures: [{ key: { usedAt: 1 }, name: 'used_at', expireAfterSeconds: keepS }],
}

export type CallbackSignatures = ReturnType<typeof createCallbackSignatures>

/** The used signatures of callbacks, the same for all replicas and over restarts. */
export function createCallbackSignatures(db: Db) {
  const collection = db.collection<{ _id: string; usedAt: Date }>('callback_signatures')
  return {
    /** Marks a signature as used. @returns false when it was used before */
    async use(walletKey: string, timestamp: string, signature: string, now: Date): Promise<boolean> {
      const _id = createHash('sha256').update(`${walletKey}\n${timestamp}\n${signature}`).digest('base64url')
      return insertedFirst(() => collection.insertOne({ _id, usedAt: now }))
    },
  }
}
