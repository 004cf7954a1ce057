import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'

export type ActState = { readonly busy: boolean; readonly error: ApiError | null }

/**
 * Runs one act at a time and keeps its refusal for the page to show. Answers are kept nowhere: they may hold
 * a secret. `run` answers null when the act was refused or another one is under way.
 */
export function useAct<Inputs extends readonly unknown[], Outcome>(
  act: (...inputs: Inputs) => Promise<Outcome>,
) {
  const [state, setState] = useState<ActState>({ busy: false, error: null })
  async function run(...inputs: Inputs): Promise<{ value: Outcome } | null> {
    if (state.busy) return null
    setState({ busy: true, error: null })
    try {
      const value = await act(...inputs)
      setState({ busy: false, error: null })
      return { value }
    } catch (error) {
      if (!(error instanceof ApiError)) {
        // The nearest error boundary shows a fault of the page itself.
        setState(() => {
          throw error
        })
        return null
      }
      setState({ busy: false, error })
      return null
    }
  }
  return { ...state, run, clear: () => setState({ busy: false, error: null }) }
}
