import type {
  walletCertificationSchema,
  walletCertificationSummarySchema,
} from '@pitboss/contracts/objects/certification'
import type { z } from 'zod'
import type { CertificationDocument } from '../storage/certification-store.ts'

/** The public record of a certification without its cases. Source: docs/contract.md, section 3. */
export function toCertificationSummary(
  document: Omit<CertificationDocument, 'cases'>,
): z.infer<typeof walletCertificationSummarySchema> {
  const { counts, certified, reason, status, url, currency } = document
  return {
    certification_id: document._id,
    ...{ url, status, certified, reason, currency, ...counts },
    cases_total: document.casesTotal,
    player_id: document.playerId,
    blocked_player_id: document.blockedPlayerId,
    unknown_player_id: document.unknownPlayerId,
    created_at: document.createdAt.toISOString(),
    finished_at: document.finishedAt?.toISOString() ?? null,
  }
}

/** The public record of a certification. */
export function toCertification(document: CertificationDocument): z.infer<typeof walletCertificationSchema> {
  return { ...toCertificationSummary(document), cases: [...document.cases] }
}
