import './styles/base.css'
import './styles/verify.css'
import { render } from 'preact'
import { readRoundFragment } from './parts/round-fragment.ts'
import { VerifyPage } from './verify/verify-page.tsx'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no place for its form')
render(<VerifyPage initialText={readRoundFragment(window.location.hash) ?? ''} />, root)
