"""Chinese: the words that rules look for, as alternatives of regular expressions. Names as in `english`."""

from typing import Final

ALWAYS: Final = (
    r"不要|不能|不得|不许|不可|不准|不允许|不应|勿|禁止|严禁|杜绝|避免|必须|必需|务必|一定要|一律|始终"
    r"|永远|总是|从不|绝不"
    r"|绝对|切记|只能|只用|只允许|只可|只在|仅限|仅用|仅使用|应该|应当|应为|需要保持|要求|请用|请使用"
    r"|请保持|请确保|确保|保证"
    r"|统一|记住|记得|以后都|今后|从现在起|从今|每次|每个|所有|凡是|优先|尽量|不再|不超过|不少于|至多"
    r"|最多|至少|而不是|改用"
    r"|不用|无需|(?:^|[，。；、,;\s请你也都就千万])别(?![人的名处墅说扭致])"
)
TASK: Final = r"任务"
STRICT: Final = r"必须|不得|禁止|严禁|务必|不要|一律|始终|不能"
WISHED: Final = r"请|希望|想要|需要|保持|使用|采用|注意|(?<![有作没应费信运])用(?![户途处于来完了过])"
NO_ORDER: Final = r"没关系|不要紧|不能理解"
POLITE_ORDER: Final = r"(?:能不能|可不可以|可以|能)(?:不要|别|只|总是|一直)"
LASTING: Final = (
    r"总|始终|一律|每|凡|都|永远|以后|今后|不|别|勿|只|仅|禁止|避免|之前|之后|必须|保持|应|使用|如果|除非"
)
ACTS: Final = {
    "commit": ("提交",),
    "push": ("推送",),
    "test": ("测试",),
    "build": ("构建", "编译"),
    "rebase": ("变基",),
    "merge": ("合并",),
    "lint": ("检查",),
    "install": ("安装",),
}
"""What commands do, by the word in the command."""
REFERS_BACK: Final = r"[它他这那]|否则"
RULES_HEADING: Final = r"要求|规则|约束|注意|规范|必须|不要"
SMALL_TALK: Final = r"好的?|是的?|继续|可以|行|嗯|谢谢|没问题|对|不错"
WITHDRAWS: Final = r"算了|不用了|取消|撤销|别做了|停下|还原"
REASON: Final = r"因为|由于|以便|为了|以免|避免|原因|所以|因此"
BECAUSE: Final = r"因为|由于|而不是"
CHOICE: Final = r"决定|改用|选用|改为|换成|不再用|不再使用|放弃|而不是|选择了?|采用|还是用"
TROUBLE: Final = r"不支持|不能|失败|错误|缺少|报错|问题"
OUTCOME: Final = r"完成|搞定|已修复|通过|已提交|已推送|已合并|已关闭|成功"
COMPLETED: Final = r"完成|搞定|已修复|已提交|已推送|已合并|已关闭"
OPEN: Final = r"后续|下一步|接下来|待办|剩下|还需要|未完成|尚未|还没"
PLAN_HEADING: Final = r"后续|下一步|接下来|待办|剩下|还需要|未完成|计划"
NARRATION: Final = r"(?:现在|接下来|首先|然后)?(?:让我|我来|我将|我会|我先|我要)|好的"
INTENTION: Final = r"(?:现在|接下来|首先|然后)?(?:让我|我来|我将|我会|我先|我要|我需要|需要)"
DECIDED: Final = r"决定|改用|选用|改为|换成|不再用|不再使用|放弃|选择了|还是用"
BRIEF_HEADING: Final = r"验收标准|验收|需求|目标|范围|约束|说明|描述|规格|设计|背景|问题|方案|测试"
BRIEF_RULE: Final = r"必须|只能|不得|不要|禁止|仅|不能|应当|保持"
REJECTED: Final = r"用户(?:拒绝|取消|中断)"
CHANGED: Final = r"改为|改成|从现在起|现在|不再|更新|换成"
STATES_VALUE: Final = r"是|为|到|于|过|至多|最多|至少|最少|约"
REVISED: Final = CHANGED
