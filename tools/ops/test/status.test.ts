import t from 'tap'
import { consumerProblems } from '../src/commands/status-command.ts'

const view = (name: string, more: object = {}) => ({
  ...{ name, pending: 0, lag_s: 0, paused: false, stalled: false, ...more },
})
const movements = view('rounds-movements')

t.test(
  'a consumer that is missing, paused or worked by nobody is named, one that catches up is not',
  async (t) => {
    const problems = (fanout: object | null) =>
      consumerProblems([movements, ...(fanout === null ? [] : [view('webhooks-fanout', fanout)])])
    t.strictSame(problems({}), [])
    t.strictSame(problems({ paused: true }), [], 'nothing waits')
    t.strictSame(problems({ pending: 9000, lag_s: 300 }), [], 'some are recorded')
    t.match(problems(null), [/^consumer webhooks-fanout is missing/])
    t.match(problems({ pending: 3, lag_s: 20, stalled: true, paused: true }), [
      /webhooks-fanout: messages wait for 20 s and none is recorded, so new play is refused: .*consumer resume webhooks-fanout/,
    ])
    t.match(problems({ pending: 3, lag_s: 20, stalled: true }), [/look at its service and database/])
  },
)
