/** The place of a page or part without content: what would fill it, and how. */
import type { ComponentChildren } from 'preact'

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
)
