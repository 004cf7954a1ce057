import t from 'tap'
import { groupMistakes, type RefusedRequest } from '../../src/rules/group-mistakes.ts'

let minute = 59
const refused = (
  path: string,
  code: string | null,
  field: string | null,
  told = 'is required',
): RefusedRequest => ({
  ...{ request_id: `req_${minute}`, at: `2026-11-24T10:${minute--}:00.000Z`, method: 'POST', path },
  ...{ status: code === null ? 500 : 422, code },
  answer: { message: 'Not valid.', details: field === null ? [] : [{ path: field, message: told }] },
})

t.test('refusals of one route, code and field are one mistake, the most frequent first', async (t) => {
  const rows = [
    refused('/v1/sessions', 'VALIDATION_ERROR', 'currency'),
    refused('/v1/free-bets/frb_1/cancel', 'CONFLICT', null),
    refused('/v1/free-bets/frb_2/cancel', 'CONFLICT', null),
    refused('/v1/sessions', 'VALIDATION_ERROR', 'game'),
    refused('/v1/sessions', 'VALIDATION_ERROR', 'currency', 'must be a currency code such as "USD"'),
    refused('/v1/sessions', 'VALIDATION_ERROR', 'currency'),
  ]
  const mistakes = groupMistakes(rows)
  t.same(
    mistakes.map(({ path, code, field, count }) => [path, code, field, count]),
    [
      ['/v1/sessions', 'VALIDATION_ERROR', 'currency', 3],
      ['/v1/free-bets/{id}/cancel', 'CONFLICT', null, 2],
      ['/v1/sessions', 'VALIDATION_ERROR', 'game', 1],
    ],
  )
  t.match(mistakes[0], {
    last_request_id: 'req_59',
    last_at: '2026-11-24T10:59:00.000Z',
    told: 'is required',
  })
  t.match(mistakes[1], { told: 'Not valid.', remedy: /\S/ })
})

t.test('what no code of ours explains has no remedy, and rows of earlier releases no field', async (t) => {
  const { answer: _answer, ...earlier } = refused('/v1/games', 'GAME_NOT_FOUND', null)
  t.match(groupMistakes([earlier]), [{ field: null, told: null, remedy: /\S/ }])
  t.match(groupMistakes([refused('/v1/games', null, null)]), [{ code: null, remedy: null }])
  t.same(groupMistakes([]), [])
})
