// The kernel of this chapter has no code yet. Its header says four things: the idea in a sentence, the function or file of
// the server that it models, with versions, what it leaves out, and what it costs.
#pragma once

namespace engineroom::trx_sys {}  // namespace engineroom::trx_sys
