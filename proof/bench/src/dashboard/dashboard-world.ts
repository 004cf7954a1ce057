import type { DemoFile } from '@pitboss/stack/demo-file'
import type { Cleanup } from '../harness/cleanup.ts'
import type { HttpClient } from '../harness/http-client.ts'
import type { Seeded } from './seed-account.ts'

/** What a part of the benchmark works with; what it adds to `cleanup` ends with the part. */
export type DashboardWorld = {
  readonly http: HttpClient
  /** Of the account's owner. */
  readonly token: string
  readonly demo: DemoFile
  readonly seeded: Pick<Seeded, 'playerId'>
  readonly cleanup: Cleanup
  readonly say: (text: string) => void
}
