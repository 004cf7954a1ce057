import { baseUrlConfig, serviceConfig, tokenTtlConfig, whole } from '@pitboss/runtime/load-config'
import { z } from 'zod'

/** The environment of the auth service. Source: docs/contract.md, section 9. */
export const authConfig = z.object({
  ...serviceConfig,
  ...tokenTtlConfig,
  ...baseUrlConfig,
  /** `plain` while gateways of an earlier release still run, which take no other tokens. */
  PITBOSS_EDGE_TOKENS: z.enum(['bound', 'plain'], 'must be bound or plain').default('bound'),
  // Caps of an account. Source: docs/contract.md, section 12.
  PITBOSS_LIMIT_ACCOUNT_KEYS: whole(1, 1_000_000).default(200),
  PITBOSS_LIMIT_ACCOUNT_PEOPLE: whole(1, 1_000_000).default(500),
  /** Seconds from a person's creation until he approves grave acts; divided by the time scale. */
  PITBOSS_APPROVER_AGE_S: whole(0, 31_536_000).default(86_400),
})
export type AuthConfig = z.infer<typeof authConfig>
