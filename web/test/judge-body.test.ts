import { walletCertifySchema } from '@pitboss/contracts/objects/certification'
import t from 'tap'
import { faultsOf, judgeBody } from '../dashboard/src/parts/judge-body.ts'

t.test('a form says what is wrong in the words of the service, beside the field', (t) => {
  const judge = (body: object) => judgeBody(walletCertifySchema, body)
  t.strictSame(judge({ player_id: '' }), { faults: { player_id: 'must not be empty' } })
  t.strictSame(judge({ player_id: 'x'.repeat(129) }), {
    faults: { player_id: 'must have at most 128 characters' },
  })
  t.match(judge({ player_id: 'certified' }), { body: { player_id: 'certified' } })
  t.end()
})

t.test('an element of a list is shown at its list, and the first fault of a field alone', (t) => {
  const details = [
    { path: 'events.0', message: 'is unknown' },
    { path: 'events.1', message: 'is unknown, too' },
    { path: 'limits[0].max', message: 'is too much' },
  ]
  t.strictSame(faultsOf(details), { events: 'is unknown', limits: 'is too much' })
  t.end()
})
