// The same chat with the same loop. What its users are told at the end is always the same.
import { serve } from "./chat.mjs";

serve(process.env.PORT, () => ["done", {}]);
